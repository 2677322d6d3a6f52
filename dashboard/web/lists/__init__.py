"""One mechanism for all lists: a list's declaration, and everything derived from it."""
