"""The one poll of every page: what changed, and the counts and banners around its content."""
