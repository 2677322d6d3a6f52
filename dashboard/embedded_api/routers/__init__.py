"""The nine operations, one module a resource."""
