"""Releases: drafting, reviewing, deciding, running."""
