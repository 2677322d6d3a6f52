"""/."""

from django.urls import path

from dashboard.web.overview import views

urlpatterns = [
    path("", views.overview, name="overview"),
]
