"""Change the service: recorded first, sent once, checked until settled."""
