"""/comments/, and /pages/<page_id>/audiences/<audience_id>/comments/."""

from django.urls import path

from dashboard.web.comments import assign_views, audience_views, views

AUDIENCE = "pages/<id:page_id>/audiences/<id:audience_id>/"

urlpatterns = [
    path(f"{AUDIENCE}comments/", audience_views.audience_comments, name="audience-comments"),
    path("audiences/assign/", assign_views.assign_audiences, name="assign-audiences"),
    path("comments/", views.discussion, name="discussion"),
    path("comments/export.csv", views.comment_export, name="comment-export"),
    path("comments/people/", views.comment_people, name="comment-people"),
    path("comments/new/", views.thread_new, name="thread-new"),
    path("comments/threads/<int:thread_id>/", views.thread_detail, name="thread-detail"),
    path("comments/threads/<int:thread_id>/reply/", views.thread_reply, name="thread-reply"),
    path("comments/threads/<int:thread_id>/resolve/", views.thread_resolve, name="thread-resolve"),
    path("comments/threads/<int:thread_id>/reopen/", views.thread_reopen, name="thread-reopen"),
    path("comments/<int:comment_id>/edit/", views.comment_edit, name="comment-edit"),
    path("comments/<int:comment_id>/delete/", views.comment_delete, name="comment-delete"),
]
