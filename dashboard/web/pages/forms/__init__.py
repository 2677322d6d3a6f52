"""The form that creates a page."""
