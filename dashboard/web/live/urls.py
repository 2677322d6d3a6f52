"""/live/."""

from django.urls import path

from dashboard.web.live import here_views, views

urlpatterns = [
    path("", views.live, name="live"),
    path("here/", here_views.here, name="here"),
]
