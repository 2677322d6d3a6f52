"""Personal settings and pins."""
