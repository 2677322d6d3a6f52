"""Signals of what the ledger records, sent in the transaction that records it.

Sent by `send_robust`: an error of a receiver is logged, and undoes nothing that is recorded here.
"""

from django.dispatch import Signal

operation_ended = Signal()
"""The outcome of an operation is known, or known to be unknown. Argument: `operation`."""

emergency_begun = Signal()
"""An operation is sent without the approval that it needs. Argument: `operation`."""

outside_published = Signal()
"""Versions went live that no operation published: `publishes`, not all of them new."""

deviations_found = Signal()
"""Responses deviate in new ways: `deviations`, not all of them new if two processes found them."""
