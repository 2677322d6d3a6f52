"""View helpers shared by all features: htmx, query strings, tables, formats, markdown, diffs."""
