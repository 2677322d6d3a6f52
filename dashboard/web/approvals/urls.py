"""/approvals/."""

from django.urls import path

from dashboard.web.approvals import decision_views, views

urlpatterns = [
    path("", views.approval_list, name="approval-list"),
    path("<int:request_id>/", views.approval_detail, name="approval-detail"),
    path("<int:request_id>/approve/", decision_views.approval_approve, name="approval-approve"),
    path("<int:request_id>/decline/", decision_views.approval_decline, name="approval-decline"),
    path("<int:request_id>/ask/", decision_views.approval_ask, name="approval-ask"),
    path("<int:request_id>/withdraw/", decision_views.approval_withdraw, name="approval-withdraw"),
    path("<int:request_id>/publish/", decision_views.approval_publish, name="approval-publish"),
    path("<int:request_id>/send/", decision_views.approval_send, name="approval-send"),
]
