"""Saved views: their counts in the sidebar, and the pages that save and change them."""
