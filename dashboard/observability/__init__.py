"""Request context, access log, metrics and traces."""
