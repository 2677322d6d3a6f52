"""The audience page, and the audience table of a page."""
