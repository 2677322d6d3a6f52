"""The nine operations, by resource."""
