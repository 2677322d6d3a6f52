"""All audiences, one of them, and the audience table of a page."""
