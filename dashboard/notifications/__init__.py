"""Notifications: what happened, who is notified, by which channel, and the delivery."""
