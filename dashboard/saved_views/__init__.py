"""Saved views: the state of a list under a name, of one user or of the team."""
