"""Summaries of sign-in methods: a user's own for the settings, all users' for administrators."""

from dataclasses import dataclass, field
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch

from dashboard.accounts.second_factor.encryption import DecryptionError, decrypt
from dashboard.accounts.single_sign_on.policy import ProviderConnection, connection_of

Type = Authenticator.Type

ENCRYPTED_FIELDS = {Type.TOTP: "secret", Type.RECOVERY_CODES: "seed"}
"""The encrypted field of each type. A passkey's public key is no secret."""


@dataclass(frozen=True)
class Passkey:
    """A passkey of a user."""

    id: int
    name: str
    added_at: datetime
    used_at: datetime | None


@dataclass(frozen=True)
class Factors:
    """The factors of a user besides the password, or instead of it."""

    app: Authenticator | None = None
    passkeys: list[Passkey] = field(default_factory=list)
    codes_left: int | None = None
    """Number of unused recovery codes; None if they can't be decrypted any more."""
    connection: ProviderConnection | None = None
    """Connection to the organization's provider; None if no provider is configured."""

    @property
    def is_on(self) -> bool:
        """Whether the login requires a second factor."""
        return bool(self.app or self.passkeys)


@dataclass(frozen=True)
class UserSignInSummary:
    """The sign-in methods of one user, for administrators."""

    user: User
    groups: list[str]
    has_app: bool
    passkeys: int
    by_organisation: bool

    @property
    def has_factor(self) -> bool:
        """Whether the user has a factor to reset."""
        return self.has_app or self.passkeys > 0


def factors_of(user: User) -> Factors:
    """Return a user's factors, passkeys oldest first."""
    held = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    return Factors(
        app=next((each for each in held if each.type == Type.TOTP), None),
        passkeys=[_passkey(each) for each in held if each.type == Type.WEBAUTHN],
        codes_left=next(
            (_codes_left(each) for each in held if each.type == Type.RECOVERY_CODES), 0
        ),
        connection=connection_of(user),
    )


def list_sign_in_summaries() -> list[UserSignInSummary]:
    """Return the active users by name."""
    accounts = SocialAccount.objects.filter(user=OuterRef("pk"))
    people = (
        User.objects.filter(is_active=True)
        .annotate(by_organisation=Exists(accounts))
        .prefetch_related(
            "groups",
            Prefetch("authenticator_set", queryset=Authenticator.objects.only("user", "type")),
        )
        .order_by("username")
    )
    return [_sign_in_of(user) for user in people]


def unreadable_second_factors() -> list[str]:
    """Return the names of users whose app or codes no configured SECRET_KEY can decrypt."""
    held = Authenticator.objects.filter(type__in=ENCRYPTED_FIELDS, user__is_active=True)
    return sorted(
        {each.user.get_username() for each in held.select_related("user") if not _is_readable(each)}
    )


def _sign_in_of(user: User) -> UserSignInSummary:
    types = [each.type for each in user.authenticator_set.all()]  # type: ignore[attr-defined]
    return UserSignInSummary(
        user=user,
        groups=sorted(group.name for group in user.groups.all()),
        has_app=Type.TOTP in types,
        passkeys=types.count(Type.WEBAUTHN),
        by_organisation=user.by_organisation,  # type: ignore[attr-defined]  # annotated
    )


def _passkey(held: Authenticator) -> Passkey:
    return Passkey(held.pk, held.wrap().name, held.created_at, held.last_used_at)


def _is_readable(held: Authenticator) -> bool:
    try:
        decrypt(held.data[ENCRYPTED_FIELDS[held.type]])
    except DecryptionError:
        return False
    return True


def _codes_left(held: Authenticator) -> int | None:
    try:
        return len(held.wrap().get_unused_codes())
    except DecryptionError:
        return None
