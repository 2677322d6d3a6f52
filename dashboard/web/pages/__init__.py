"""The page list, the page detail and the form to create a page."""
