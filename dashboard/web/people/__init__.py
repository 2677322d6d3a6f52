"""List, search and export people."""
