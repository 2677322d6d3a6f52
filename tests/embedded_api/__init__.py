"""The embedded API, called by HTTP."""
