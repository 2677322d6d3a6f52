"""Access for programs: tokens, ten acts, and the JSON API and MCP endpoint that offer them."""
