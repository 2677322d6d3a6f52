"""One mechanism for all lists: what a list declares, and what follows from it."""
