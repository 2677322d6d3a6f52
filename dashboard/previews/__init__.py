"""What visitors may see of a page, its problems, and its URL on the site."""
