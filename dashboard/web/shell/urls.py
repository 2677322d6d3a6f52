"""The URLs of the dashboard, feature by feature."""

from django.urls import include, path, register_converter

from dashboard.web.ui.urls import IdentifierConverter

# `include` imports the URLs of the features, which use it.
register_converter(IdentifierConverter, "id")

AUDIENCE = "pages/<id:page_id>/audiences/<id:audience_id>/"

urlpatterns = [
    path("", include("dashboard.web.overview.urls")),
    path("live/", include("dashboard.web.live.urls")),
    path("find/", include("dashboard.web.search.urls")),
    path("pages/", include("dashboard.web.pages.urls")),
    path("", include("dashboard.web.preview.urls")),
    path("", include("dashboard.web.audiences.urls")),
    path(f"{AUDIENCE}versions/", include("dashboard.web.versions.urls")),
    path(f"{AUDIENCE}versions/<id:version_id>/", include("dashboard.web.publishing.urls")),
    path(f"{AUDIENCE}conversation/", include("dashboard.web.conversations.urls")),
    path("", include("dashboard.web.comments.urls")),
    path("releases/", include("dashboard.web.releases.urls")),
    path("", include("dashboard.web.review.urls")),
    path("approvals/", include("dashboard.web.approvals.urls")),
    path("", include("dashboard.web.notifications.urls")),
    path("people/", include("dashboard.web.people.urls")),
    path("", include("dashboard.web.webhooks.urls")),
    path("activity/", include("dashboard.web.activity.urls")),
    path("saved-views/", include("dashboard.web.saved_views.urls")),
    path("service/", include("dashboard.web.service_status.urls")),
    path("accounts/", include("dashboard.accounts.urls")),
    path("accounts/", include("dashboard.web.settings.urls")),
    path("accounts/settings/", include("dashboard.web.machine.urls")),
    path("", include("dashboard.server.urls")),
]
