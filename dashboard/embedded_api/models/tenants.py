"""Tenants and their API keys."""

from django.db import models

from dashboard.embedded_api.ids import id_column

DEFAULT_TENANT_ID = "ten_01jd6kqe00750a8r2mmd0dvx3s"
"""Tenant of the dashboard, and of keys that are issued without a tenant."""


class Tenant(models.Model):
    """The owner of objects. A key has access only to the objects of its tenant."""

    id = id_column("ten")
    name = models.CharField(max_length=200, default="Default tenant")
    brand_id = models.CharField(
        "brand ID", max_length=255, default="brand_01jd6kqe00750a8r2mmd0dvx3s"
    )
    """Brand of pages that are created without one."""

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A key of the service, stored only as a hash."""

    id = id_column("key")
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=200, help_text="Who or what uses this key.")
    prefix = models.CharField(max_length=12, db_index=True, editable=False)
    """First characters of the key, to tell keys apart."""
    sha256 = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
