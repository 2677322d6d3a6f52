"""Issue, check and revoke API keys. Only a hash is stored."""

import secrets
from hashlib import sha256

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from ninja.security import APIKeyHeader

from dashboard import clock
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, ApiKey, Tenant

PREFIX_LENGTH = 12
_SALT = "dashboard.embedded_api.keys"
"""The dashboard's own key is derived from this, so never change it."""


class ServiceKey(APIKeyHeader):
    """Authenticates by the `x-api-key` header. `request.auth` becomes the tenant's id."""

    param_name = "x-api-key"

    def authenticate(self, request: HttpRequest, key: str | None) -> str | None:
        if not key:
            return None
        if constant_time_compare(key, internal_key()):
            return DEFAULT_TENANT_ID
        for row in ApiKey.objects.filter(prefix=key[:PREFIX_LENGTH], revoked_at=None):
            if constant_time_compare(row.sha256, _hash(key)):
                return str(row.tenant_id)
        return None


def issue(row: ApiKey) -> str:
    """Save a new row with a new key and return the key, which can't be read again."""
    key = f"prs_{secrets.token_urlsafe(32)}"
    row.prefix, row.sha256 = key[:PREFIX_LENGTH], _hash(key)
    row.save(force_insert=True)
    return key


def find_keys(text: str) -> QuerySet[ApiKey]:
    """Find keys by their first 12 characters, or by a whole key."""
    api_keys = ApiKey.objects.filter(prefix=text[:PREFIX_LENGTH])
    # A longer text must match the whole key, not just the prefix.
    return api_keys if len(text) == PREFIX_LENGTH else api_keys.filter(sha256=_hash(text))


def revoke(keys: QuerySet[ApiKey]) -> int:
    """Revoke the active keys and return their number. The rows remain."""
    return keys.filter(revoked_at=None).update(revoked_at=clock.now())


def internal_key() -> str:
    """Return the dashboard's own key. It is derived from SECRET_KEY and not stored."""
    return salted_hmac(_SALT, "the dashboard's own key", algorithm="sha256").hexdigest()


def default_tenant() -> Tenant:
    return Tenant.objects.get_or_create(id=DEFAULT_TENANT_ID)[0]


def _hash(key: str) -> str:
    return sha256(key.encode(errors="replace")).hexdigest()
