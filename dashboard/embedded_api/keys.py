"""Keys of the service: made, shown once, kept hashed, checked, revoked."""

import secrets
from hashlib import sha256

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from ninja.security import APIKeyHeader

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, ApiKey, Tenant
from dashboard.statements import Statement

PREFIX_LENGTH = 12
_IN_USE = Statement(
    lambda prefix: ApiKey.objects.filter(prefix=prefix, revoked_at=None).values_list(
        "sha256", "tenant_id", named=True
    )
)


class ServiceKey(APIKeyHeader):
    """The `x-api-key` header. What it lets in is one tenant: `request.auth` is the tenant's id."""

    param_name = "x-api-key"

    def authenticate(self, request: HttpRequest, key: str | None) -> str | None:
        """Return the id of the tenant the key belongs to, or None to refuse."""
        return tenant_of(key) if key else None


def issue(row: ApiKey) -> str:
    """Save a new row with a key of its own, and return the key: it can't be read again."""
    key = f"prs_{secrets.token_urlsafe(32)}"
    row.prefix, row.sha256 = key[:PREFIX_LENGTH], _hash(key)
    row.save(force_insert=True)
    return key


def named_by(text: str) -> QuerySet[ApiKey]:
    """Return the key that a text names: by its first 12 characters, or by all of it."""
    found = ApiKey.objects.filter(prefix=text[:PREFIX_LENGTH])
    # Who gives more than that means that key and no other which begins alike.
    return found if len(text) == PREFIX_LENGTH else found.filter(sha256=_hash(text))


def revoke(keys: QuerySet[ApiKey]) -> int:
    """Revoke the keys that are not yet; return how many were. They stay on record."""
    return keys.filter(revoked_at=None).update(revoked_at=timezone.now())


def tenant_of(key: str) -> str | None:
    """Return the id of the tenant a key belongs to, or None for an unknown or revoked key."""
    if constant_time_compare(key, internal_key()):
        return DEFAULT_TENANT_ID
    for row in _IN_USE.rows(key[:PREFIX_LENGTH]):
        if constant_time_compare(row.sha256, _hash(key)):
            return str(row.tenant_id)
    return None


def internal_key() -> str:
    """Return the key the dashboard itself uses: it follows from SECRET_KEY and is kept nowhere."""
    return salted_hmac(__name__, "the dashboard's own key", algorithm="sha256").hexdigest()


def default_tenant() -> Tenant:
    """Return the tenant whose things the dashboard sees; it is made when first needed."""
    return Tenant.objects.get_or_create(id=DEFAULT_TENANT_ID)[0]


def _hash(key: str) -> str:
    return sha256(key.encode(errors="replace")).hexdigest()
