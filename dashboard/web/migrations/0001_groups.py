"""The three groups of people and their permissions."""

from typing import Any

from django.apps import apps as installed_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

GROUPS = {
    "Viewers": [],
    "Publishers": ["ledger.publish_version", "ledger.create_page", "saved_views.change_team_views"],
    "Administrators": [
        "ledger.update_subscription",
        "approvals.manage_approvals",
        "notifications.manage_deliveries",
        "previews.manage_site",
        "saved_views.change_team_views",
        "comments.remove_comments",
        "auth.add_user",
        "auth.change_user",
        "auth.view_user",
        "auth.view_group",
        *(
            f"embedded_api.{action}_{model}"
            for action in ("change", "delete", "view")
            for model in ("webhookdelivery", "signingsecret")
        ),
        "embedded_api.view_webhookdeliveryattempt",
        "embedded_api.add_apikey",
        "embedded_api.change_apikey",
        "embedded_api.view_apikey",
        "embedded_api.add_tenant",
        "embedded_api.change_tenant",
        "embedded_api.view_tenant",
        "embedded_api.view_conversation",
        *(
            f"embedded_api.{action}_{model}"
            for action in ("add", "change", "delete", "view")
            for model in ("page", "audience", "version", "person", "subscription")
        ),
    ],
}


def make_groups(apps: Any, schema_editor: Any) -> None:
    # Django creates permissions after all migrations, but the groups need them here.
    for label in (
        *("auth", "ledger", "approvals", "saved_views", "comments", "notifications"),
        *("previews", "embedded_api"),
    ):
        create_permissions(installed_apps.get_app_config(label), verbosity=0)
    groups, permissions = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    for name, wanted in GROUPS.items():
        group, _ = groups.objects.get_or_create(name=name)
        for permission in wanted:
            label, codename = permission.split(".")
            group.permissions.add(
                permissions.objects.get(content_type__app_label=label, codename=codename)
            )


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("ledger", "0001_initial"),
        ("approvals", "0001_initial"),
        ("saved_views", "0001_initial"),
        ("comments", "0001_initial"),
        ("notifications", "0001_initial"),
        ("previews", "0001_initial"),
        ("embedded_api", "0001_initial"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
