"""Notifications: the bell, the history, settings, webhooks, following, and the delivery log."""
