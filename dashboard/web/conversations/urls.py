"""/pages/<page_id>/audiences/<audience_id>/conversation/."""

from django.urls import path

from dashboard.web.conversations import views

urlpatterns = [
    path("", views.conversation, name="conversation"),
    path("newer/", views.conversation_newer, name="conversation-newer"),
    path("export/", views.conversation_export, name="conversation-export"),
    path("calls/<id:message_key>/<int:index>/", views.tool_call, name="tool-call"),
    path("results/<id:message_key>/<int:index>/", views.tool_result, name="tool-result"),
]
