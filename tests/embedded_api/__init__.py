"""The embedded API, asked over HTTP."""
