"""Releases: the agenda, the review board, schedules, and the progress of one that runs."""
