"""Releases: the agenda, the review board, schedules, and the progress of a running release."""
