"""The embedded API, called over HTTP."""
