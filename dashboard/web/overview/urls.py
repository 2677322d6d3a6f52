"""/."""

from django.urls import path

from dashboard.web.overview import views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("visited/", views.overview_visited, name="overview-visited"),
]
