"""Changes of the service: each is recorded first, sent once, and checked until settled."""
