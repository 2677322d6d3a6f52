"""Signals of what the ledger records, sent in the transaction that records it.

Sent by `send_robust`: an error of a receiver is logged, and undoes nothing that is recorded here.
"""

from django.dispatch import Signal

pages_changed = Signal()
"""Pages were recorded as changed. Argument: `changes`, pairs of the row before and the record."""

audiences_changed = Signal()
"""Audiences of a page are new or changed. Arguments: `page_id`; `changes`, as for pages, with None
for the row before of a new one."""

operation_ended = Signal()
"""The outcome of an operation is known, or known to be unknown. Argument: `operation`."""

emergency_begun = Signal()
"""An operation is sent without the approval that it needs. Argument: `operation`."""

published_outside = Signal()
"""Versions went live that no operation published. Argument: `publications`."""

deviations_found = Signal()
"""Responses deviate in new ways: `deviations`, not all of them new if two processes found them."""
