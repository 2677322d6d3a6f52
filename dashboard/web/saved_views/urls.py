"""/saved-views/."""

from django.urls import path

from dashboard.web.saved_views import views

urlpatterns = [
    path("", views.saved_view_list, name="saved-view-list"),
    path("new/", views.saved_view_new, name="saved-view-new"),
    path("default/", views.saved_view_default, name="saved-view-default"),
    path("<int:view_id>/", views.saved_view_edit, name="saved-view-edit"),
    path("<int:view_id>/save/", views.saved_view_save, name="saved-view-save"),
    path("<int:view_id>/move/", views.saved_view_move, name="saved-view-move"),
    path("<int:view_id>/delete/", views.saved_view_delete, name="saved-view-delete"),
]
