"""Signals of the ledger, sent in the transaction that records the event.

They are sent by `send_robust`: a receiver's error is logged, and undoes no record.
"""

from django.dispatch import Signal

pages_changed = Signal()
"""Pages were recorded as changed. Argument: `changes`, pairs of the row before and the new
record."""

audiences_changed = Signal()
"""Audiences of a page are new or changed. Arguments: `page_id`; `changes`, as for pages, with None
as the row before a new one."""

operation_ended = Signal()
"""The outcome of an operation is known, or known to be unknown. Argument: `operation`."""

emergency_begun = Signal()
"""An operation is sent without the approval that it needs. Argument: `operation`."""

published_outside = Signal()
"""Versions went live that no operation published. Argument: `publications`."""

deviations_found = Signal()
"""Responses deviate in new ways. Argument: `deviations`; some aren't new if two processes found
them."""
