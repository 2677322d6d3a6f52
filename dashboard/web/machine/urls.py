"""/accounts/settings/: tokens, and how to connect a program."""

from django.urls import path

from dashboard.web.machine import views

urlpatterns = [
    path("tokens/", views.token_list, name="token-list"),
    path("tokens/new/", views.token_new, name="token-new"),
    path("tokens/<int:token_id>/revoke/", views.token_revoke, name="token-revoke"),
    path("tokens/<int:token_id>/owner/", views.token_owner, name="token-owner"),
    path("connect/", views.connect, name="connect"),
]
