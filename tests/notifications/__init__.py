"""Notifications: who is notified of what, and how it is delivered."""
