"""Shared by our JSON APIs: request parsing, problems, cursors and documentation pages."""
