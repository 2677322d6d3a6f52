"""/live/."""

from django.urls import path

from dashboard.web.live import views

urlpatterns = [path("", views.live, name="live")]
