"""/releases/."""

from django.urls import path

from dashboard.web.releases import form_views, views

urlpatterns = [
    path("", views.release_list, name="release-list"),
    path("new/", form_views.release_new, name="release-new"),
    path("<int:release_id>/", views.release_detail, name="release-detail"),
    path("<int:release_id>/export.csv", views.release_export, name="release-export"),
    # Forms of a release.
    path("<int:release_id>/edit/", form_views.release_edit, name="release-edit"),
    path("<int:release_id>/schedule/", form_views.release_schedule, name="release-schedule"),
    path("<int:release_id>/items/<int:item_id>/", form_views.release_item, name="release-item"),
    # Decisions.
    path("<int:release_id>/discard/", views.release_discard, name="release-discard"),
    path("<int:release_id>/check/", views.release_check, name="release-check"),
    path("<int:release_id>/publish/", views.release_publish, name="release-publish"),
    path(
        "<int:release_id>/request-approval/",
        views.release_request_approval,
        name="release-request-approval",
    ),
    path("<int:release_id>/continue/", views.release_continue, name="release-continue"),
    path("<int:release_id>/stop/", views.release_stop, name="release-stop"),
    path("<int:release_id>/cancel/", views.release_cancel, name="release-cancel"),
    path("<int:release_id>/roll-back/", views.release_roll_back, name="release-roll-back"),
    path("<int:release_id>/retry/", views.release_retry, name="release-retry"),
]
