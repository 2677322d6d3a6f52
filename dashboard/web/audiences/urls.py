"""/pages/<page_id>/audiences/<audience_id>/."""

from django.urls import path

from dashboard.web.audiences import views

urlpatterns = [
    path("", views.audience_detail, name="audience-detail"),
]
