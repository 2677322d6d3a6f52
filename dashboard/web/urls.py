"""The addresses of the dashboard: its table of contents. Source: DESIGN.md, Addresses."""

from django.urls import path, register_converter

from dashboard.web.converters import IdentifierConverter
from dashboard.web.views import (
    accounts,
    activity,
    audiences,
    conversations,
    find,
    health,
    hooks,
    metrics,
    overview,
    page_create,
    page_draft,
    pages,
    people,
    preferences,
    publish,
    second_factor,
    service_watch,
    sign_in_rules,
    single_sign_on,
    versions,
    webhook_edit,
    webhook_switch,
    webhooks,
)

register_converter(IdentifierConverter, "id")

AUDIENCE = "pages/<id:page_id>/audiences/<id:audience_id>/"
VERSION = f"{AUDIENCE}versions/<id:version_id>/"
CONVERSATION = f"{AUDIENCE}conversation/"
OPERATION = "activity/<id:operation_key>/"

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("find/", find.find, name="find"),
    # /pages/
    path("pages/", pages.page_list, name="page-list"),
    path("pages/new/", page_create.page_create, name="page-create"),
    path("pages/new/draft/", page_draft.page_draft, name="page-draft"),
    path("pages/<id:page_id>/", pages.page_detail, name="page-detail"),
    # /pages/<page_id>/audiences/<audience_id>/
    path(AUDIENCE, audiences.audience_detail, name="audience-detail"),
    path(f"{AUDIENCE}versions/", versions.version_list, name="version-list"),
    path(f"{AUDIENCE}versions/compare/", versions.version_compare, name="version-compare"),
    path(f"{VERSION}publish/", publish.publish, name="version-publish"),
    path(CONVERSATION, conversations.conversation, name="conversation"),
    path(f"{CONVERSATION}newer/", conversations.conversation_newer, name="conversation-newer"),
    path(f"{CONVERSATION}export/", conversations.conversation_export, name="conversation-export"),
    path(
        f"{CONVERSATION}calls/<id:message_key>/<int:index>/",
        conversations.tool_call,
        name="tool-call",
    ),
    path(
        f"{CONVERSATION}results/<id:message_key>/<int:index>/",
        conversations.tool_result,
        name="tool-result",
    ),
    # /people/
    path("people/", people.people_list, name="people-list"),
    path("people/export.csv", people.people_export, name="people-export"),
    # /webhooks/
    path("webhooks/", webhooks.subscription_list, name="subscription-list"),
    path(
        "webhooks/<id:subscription_id>/",
        webhook_edit.subscription_detail,
        name="subscription-detail",
    ),
    path(
        "webhooks/<id:subscription_id>/active/",
        webhook_switch.subscription_active,
        name="subscription-active",
    ),
    path(
        "webhooks/<id:subscription_id>/forget/",
        webhooks.subscription_forget,
        name="subscription-forget",
    ),
    # /hooks/
    path("hooks/", hooks.receiver_page, name="receiver"),
    path("hooks/deliveries/<int:number>/", hooks.delivery_detail, name="delivery-detail"),
    path("hooks/<str:secret>/", hooks.hook, name="hook"),
    # /activity/
    path("activity/", activity.operation_list, name="operation-list"),
    path("activity/export.csv", activity.operation_export, name="operation-export"),
    path(OPERATION, activity.operation_detail, name="operation-detail"),
    path(f"{OPERATION}check/", activity.operation_check, name="operation-check"),
    path(f"{OPERATION}send-again/", activity.operation_send_again, name="operation-send-again"),
    # /service/ (its document stands there too, where the API carried here is the service)
    path("service/watch/", service_watch.service_watch, name="service-watch"),
    path("service/policy-report/", service_watch.policy_report, name="policy-report"),
    # /accounts/
    path("accounts/login/", accounts.Login.as_view(), name="login"),
    path("accounts/login/code/", second_factor.SecondStep.as_view(), name="mfa_authenticate"),
    path("accounts/login/organisation/", single_sign_on.single_sign_on, name="single-sign-on"),
    path(
        "accounts/login/organisation/back/",
        single_sign_on.single_sign_on_callback,
        name="single-sign-on-callback",
    ),
    path("accounts/logout/", accounts.logout, name="logout"),
    path("accounts/password/", accounts.Password.as_view(), name="password"),
    path("accounts/settings/", preferences.own_settings, name="settings"),
    path("accounts/settings/app/", second_factor.SetUpApp.as_view(), name="mfa_activate_totp"),
    path(
        "accounts/settings/app/remove/",
        second_factor.RemoveApp.as_view(),
        name="mfa_deactivate_totp",
    ),
    path("accounts/settings/passkey/", second_factor.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "accounts/settings/passkey/<int:pk>/remove/",
        second_factor.RemovePasskey.as_view(),
        name="mfa_remove_webauthn",
    ),
    path(
        "accounts/settings/codes/",
        second_factor.RecoveryCodes.as_view(),
        name="mfa_view_recovery_codes",
    ),
    path(
        "accounts/settings/codes/new/",
        second_factor.NewRecoveryCodes.as_view(),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "accounts/settings/organisation/",
        single_sign_on.organisation_connect,
        name="organisation-connect",
    ),
    path(
        "accounts/settings/organisation/remove/",
        single_sign_on.organisation_disconnect,
        name="organisation-disconnect",
    ),
    path("accounts/again/", second_factor.PasswordAgain.as_view(), name="account_reauthenticate"),
    path("accounts/again/code/", second_factor.CodeAgain.as_view(), name="mfa_reauthenticate"),
    path(
        "accounts/again/passkey/",
        second_factor.PasskeyAgain.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path("accounts/rules/", sign_in_rules.sign_in_rules_page, name="sign-in-rules"),
    path(
        "accounts/rules/<int:person_id>/reset/",
        sign_in_rules.second_factor_reset,
        name="second-factor-reset",
    ),
    path("accounts/theme/", preferences.theme, name="theme"),
    path("accounts/utc/", preferences.utc, name="utc"),
    path("accounts/keys/", preferences.keys, name="keys"),
    path("accounts/pin/", preferences.pin, name="pin"),
    # /health/ and /metrics
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics.metrics, name="metrics"),
    # The two pages that django-allauth leads to by names of its own.
    path("accounts/login/", accounts.Login.as_view(), name="account_login"),
    path("accounts/settings/", preferences.own_settings, name="mfa_index"),
]
