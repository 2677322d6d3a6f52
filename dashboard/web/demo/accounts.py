"""The demo's accounts. Each has its own name as password, so nothing else may ever make them."""

from django.contrib.auth.models import Group, User

GROUPS = {
    "demo": ("Publishers", "Administrators"),
    "publisher": ("Publishers",),
    "viewer": ("Viewers",),
}


def make_accounts() -> dict[str, User]:
    """Make the accounts that are missing, and return them all by name."""
    return {name: _account(name, groups) for name, groups in GROUPS.items()}


def others_exist() -> bool:
    """Whether the database has accounts that the demo did not make."""
    return User.objects.exclude(username__in=GROUPS).exists()


def _account(name: str, groups: tuple[str, ...]) -> User:
    is_root = name == "demo"
    account, is_new = User.objects.get_or_create(
        username=name, defaults={"is_superuser": is_root, "is_staff": is_root}
    )
    if is_new:
        account.set_password(name)
        account.save()
        account.groups.set(Group.objects.filter(name__in=groups))
    return account
