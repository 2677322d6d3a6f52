"""Records of what was read from the service and what was sent to it."""
