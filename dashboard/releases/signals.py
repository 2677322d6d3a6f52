"""Signals of releases, sent in the transaction that records it.

Sent by `send_robust`, as those of the ledger.
"""

from django.dispatch import Signal

release_held = Signal()
"""Nothing more is sent until a person decides. Argument: `release`."""
release_finished = Signal()
"""All its items have ended. Argument: `release`."""
item_ended_badly = Signal()
"""An item failed, or its outcome is unknown. Argument: `item`, with its release."""
