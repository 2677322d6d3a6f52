"""URLs /health/, /metrics and /favicon.ico."""

from django.urls import path

from dashboard.server import views

urlpatterns = [
    path("health/live", views.live, name="health-live"),
    path("health/ready", views.ready, name="health-ready"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("metrics", views.metrics, name="metrics"),
]
