"""The nine operations, with a module for each resource."""
