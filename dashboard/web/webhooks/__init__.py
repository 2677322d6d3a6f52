"""Webhook subscriptions, and the receiver of deliveries."""
