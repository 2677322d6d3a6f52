"""/accounts/: sign-in, second factors and single sign-on. Names with _ are django-allauth's."""

from django.urls import path

from dashboard.accounts import policy_views, views
from dashboard.accounts.second_factor import views as second_factor
from dashboard.accounts.single_sign_on import views as single_sign_on

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("login/code/", second_factor.SecondStep.as_view(), name="mfa_authenticate"),
    path("login/organisation/", single_sign_on.single_sign_on, name="single-sign-on"),
    path(
        "login/organisation/back/",
        single_sign_on.single_sign_on_callback,
        name="single-sign-on-callback",
    ),
    path("logout/", views.logout, name="logout"),
    path("password/", views.Password.as_view(), name="password"),
    # /accounts/settings/: second factors and the organization
    path("settings/app/", second_factor.SetUpApp.as_view(), name="mfa_activate_totp"),
    path("settings/app/remove/", second_factor.RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path("settings/passkey/", second_factor.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "settings/passkey/<int:pk>/remove/",
        second_factor.RemovePasskey.as_view(),
        name="mfa_remove_webauthn",
    ),
    path("settings/codes/", second_factor.RecoveryCodes.as_view(), name="mfa_view_recovery_codes"),
    path(
        "settings/codes/new/",
        second_factor.NewRecoveryCodes.as_view(),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "settings/organisation/", single_sign_on.organisation_connect, name="organisation-connect"
    ),
    path(
        "settings/organisation/remove/",
        single_sign_on.organisation_disconnect,
        name="organisation-disconnect",
    ),
    # /accounts/again/: reauthentication before sensitive changes
    path("again/", second_factor.PasswordAgain.as_view(), name="account_reauthenticate"),
    path("again/code/", second_factor.CodeAgain.as_view(), name="mfa_reauthenticate"),
    path(
        "again/passkey/", second_factor.PasskeyAgain.as_view(), name="mfa_reauthenticate_webauthn"
    ),
    # /accounts/rules/: sign-in rules
    path("rules/", policy_views.sign_in_policy_page, name="sign-in-policy"),
    path(
        "rules/<int:user_id>/reset/", policy_views.second_factor_reset, name="second-factor-reset"
    ),
    path("login/", views.Login.as_view(), name="account_login"),
]
