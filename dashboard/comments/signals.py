"""Signals of comments, sent in the transaction that records the event; see `ledger/signals.py`."""

from django.dispatch import Signal

comment_added = Signal()
"""A comment was added, or an edit mentions more users.

Arguments: `comment`, with its thread and author; `mentioned`, the users to notify; `is_edit`, True
after an edit and otherwise not sent.
"""
thread_resolved = Signal()
"""Arguments: `line`, the comment that records it; `thread`."""
audiences_assigned = Signal()
"""Arguments: `user`, the assignee; `actor`; `keys`, page and audience ids of new assignments."""
