"""Comment threads, mentions in them, and assignees of audiences."""
