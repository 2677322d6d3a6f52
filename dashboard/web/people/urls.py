"""/people/."""

from django.urls import path

from dashboard.web.people import views

urlpatterns = [
    path("", views.people_list, name="people-list"),
    path("export.csv", views.people_export, name="people-export"),
]
