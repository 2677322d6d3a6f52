"""Work that a worker does: claimed rows, tasks, back-off, and the one sender of webhooks."""
