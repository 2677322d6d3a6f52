"""What surrounds every page: root URLs, middleware, sidebar and error pages."""
