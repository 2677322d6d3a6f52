"""The service's objects in Django's admin, if the embedded API is the service in use."""

from django.conf import settings
from django.contrib import admin

from dashboard.embedded_api.admin.audiences import AudienceAdmin, ConversationAdmin
from dashboard.embedded_api.admin.pages import PageAdmin
from dashboard.embedded_api.admin.tenants import ApiKeyAdmin, PersonAdmin, TenantAdmin
from dashboard.embedded_api.admin.versions import VersionAdmin
from dashboard.embedded_api.admin.webhooks import (
    SigningSecretAdmin,
    SubscriptionAdmin,
    WebhookDeliveryAdmin,
)
from dashboard.embedded_api.models import (
    ApiKey,
    Audience,
    Conversation,
    Page,
    Person,
    SigningSecret,
    Subscription,
    Tenant,
    Version,
    WebhookDelivery,
)

if settings.EMBEDDED_API:
    admin.site.register(ApiKey, ApiKeyAdmin)
    admin.site.register(Audience, AudienceAdmin)
    admin.site.register(Conversation, ConversationAdmin)
    admin.site.register(Page, PageAdmin)
    admin.site.register(Person, PersonAdmin)
    admin.site.register(SigningSecret, SigningSecretAdmin)
    admin.site.register(Subscription, SubscriptionAdmin)
    admin.site.register(Tenant, TenantAdmin)
    admin.site.register(Version, VersionAdmin)
    admin.site.register(WebhookDelivery, WebhookDeliveryAdmin)
