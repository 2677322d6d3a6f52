from django.apps import AppConfig


class CommentsConfig(AppConfig):
    name = "dashboard.comments"
    label = "comments"

    def ready(self) -> None:
        from django.contrib.auth.models import User
        from django.db.models.signals import post_save

        from dashboard.comments.assignees import clear_if_turned_off

        post_save.connect(clear_if_turned_off, sender=User, dispatch_uid="comments.turned_off")
