"""/service/, next to the API documentation of the embedded API."""

from django.urls import path

from dashboard.web.service_status import views

urlpatterns = [
    path("watch/", views.service_watch, name="service-watch"),
    path("check/", views.service_check, name="service-check"),
    path("policy-report/", views.policy_report, name="policy-report"),
]
