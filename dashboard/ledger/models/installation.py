"""This installation."""

import secrets

from django.db import models


class Installation(models.Model):
    """The one row that tells this installation from any other, a restored or fresh one included.

    Operation keys are derived from it: a service keeps them for good, so a new ledger must
    never repeat those of an old one.
    """

    nonce = models.CharField(max_length=64, default=secrets.token_hex)

    def __str__(self) -> str:
        return f"installation {self.pk}"
