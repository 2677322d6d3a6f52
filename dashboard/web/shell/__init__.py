"""The frame of all pages: root URLs, middleware, sidebar and error pages."""
