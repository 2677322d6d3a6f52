"""Conformance of the service, and reports of CSP violations."""
