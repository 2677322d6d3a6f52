"""Work: claims, tasks and the one sender of webhooks."""
