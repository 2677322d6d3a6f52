"""/releases/."""

from django.urls import path

from dashboard.web.releases import decision_views, form_views, schedule_views, views

urlpatterns = [
    path("", views.release_list, name="release-list"),
    path("new/", form_views.release_new, name="release-new"),
    path("moment/", schedule_views.schedule_moment, name="schedule-moment"),
    path("<int:release_id>/", views.release_detail, name="release-detail"),
    path("<int:release_id>/export.csv", views.release_export, name="release-export"),
    # Forms of a release.
    path("<int:release_id>/edit/", form_views.release_edit, name="release-edit"),
    path("<int:release_id>/schedule/", schedule_views.release_schedule, name="release-schedule"),
    path(
        "<int:release_id>/schedule/request/",
        schedule_views.release_schedule_request,
        name="release-schedule-request",
    ),
    path(
        "<int:release_id>/schedule/cancel/",
        schedule_views.release_unschedule,
        name="release-unschedule",
    ),
    path("<int:release_id>/items/<int:item_id>/", form_views.release_item, name="release-item"),
    # Decisions.
    path("<int:release_id>/discard/", decision_views.release_discard, name="release-discard"),
    path("<int:release_id>/check/", decision_views.release_check, name="release-check"),
    path("<int:release_id>/publish/", decision_views.release_publish, name="release-publish"),
    path(
        "<int:release_id>/request-approval/",
        decision_views.release_request_approval,
        name="release-request-approval",
    ),
    path("<int:release_id>/continue/", decision_views.release_continue, name="release-continue"),
    path("<int:release_id>/stop/", decision_views.release_stop, name="release-stop"),
    path("<int:release_id>/cancel/", decision_views.release_cancel, name="release-cancel"),
    path("<int:release_id>/roll-back/", decision_views.release_roll_back, name="release-roll-back"),
    path("<int:release_id>/retry/", decision_views.release_retry, name="release-retry"),
]
