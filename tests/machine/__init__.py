"""Access for programs: tokens, acts, the JSON API, MCP and the command line."""
