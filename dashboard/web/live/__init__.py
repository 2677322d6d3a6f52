"""The one poll of every page: what changed, and what surrounds every page."""
