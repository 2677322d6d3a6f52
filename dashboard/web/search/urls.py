"""/find/."""

from django.urls import path

from dashboard.web.search import views

urlpatterns = [path("", views.find, name="find")]
