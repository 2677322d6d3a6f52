"""Presence: who else has an audience, a release or a request open."""
