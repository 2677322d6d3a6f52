"""The dashboard's pages as a Django app."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Views, forms, tags and the groups of people."""

    name = "dashboard.web"
    label = "web"

    def ready(self) -> None:
        """Connect the receivers of Django's signals about users, and register the checks."""
        from django.contrib.auth.models import Group, User
        from django.contrib.auth.signals import user_logged_in
        from django.db.models.signals import m2m_changed, post_delete, post_save

        from dashboard.accounts.permissions import note_changed_rights
        from dashboard.accounts.sessions import begin
        from dashboard.server import checks  # noqa: F401  # registers them

        user_logged_in.connect(begin, dispatch_uid="session-begins")
        for relation in (User.groups, User.user_permissions, Group.permissions):
            m2m_changed.connect(note_changed_rights, sender=relation.through)
        post_save.connect(note_changed_rights, sender=User)
        post_delete.connect(note_changed_rights, sender=Group)
