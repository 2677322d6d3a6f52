"""Signals of requests for approval, sent in the transaction that records it.

Each has the argument `request`. Sent by `send_robust`, as those of the ledger.
"""

from django.dispatch import Signal

approval_requested = Signal()
approval_decided = Signal()
"""It was approved or declined."""
approval_ended = Signal()
"""It was withdrawn, expired or became void."""
