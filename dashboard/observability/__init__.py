"""Request context, access log, metrics, traces and redaction."""
