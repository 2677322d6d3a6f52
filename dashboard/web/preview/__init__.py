"""Previews of pages and audiences as visitors may see them, and the address of the site."""
