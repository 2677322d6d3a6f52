"""URLs /health/ and /metrics."""

from django.urls import path

from dashboard.server import views

urlpatterns = [
    path("health/live", views.live, name="health-live"),
    path("health/ready", views.ready, name="health-ready"),
    path("metrics", views.metrics, name="metrics"),
]
