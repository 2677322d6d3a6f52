"""Reviews of lists, the decisions made in them, and verdicts on pending changes."""
