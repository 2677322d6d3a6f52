"""How people sign in: one's own factors for the settings, everybody's for administrators."""

from dataclasses import dataclass, field
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch

from dashboard.web.sealing import UnreadableSealError
from dashboard.web.single_sign_on import Connection, connection_of

Type = Authenticator.Type


@dataclass(frozen=True)
class Passkey:
    """One passkey of a person's own."""

    id: int
    name: str
    added_at: datetime
    used_at: datetime | None


@dataclass(frozen=True)
class Factors:
    """What a person shows besides the password, or in its place."""

    app: Authenticator | None = None
    passkeys: list[Passkey] = field(default_factory=list)
    codes_left: int | None = None
    """Recovery codes that were not used; None where they can't be read any more."""
    connection: Connection | None = None
    """To the organisation's provider; None where there is none."""

    @property
    def is_on(self) -> bool:
        """Whether anything is asked for at the log-in."""
        return bool(self.app or self.passkeys)


@dataclass(frozen=True)
class SignInOf:
    """One person, as administrators see it."""

    person: User
    groups: list[str]
    has_app: bool
    passkeys: int
    by_organisation: bool

    @property
    def has_factor(self) -> bool:
        """Whether there is anything to reset."""
        return self.has_app or self.passkeys > 0


def factors_of(person: User) -> Factors:
    """Return a person's own factors, the passkeys in the order they were added."""
    held = list(Authenticator.objects.filter(user=person).order_by("created_at", "pk"))
    return Factors(
        app=next((each for each in held if each.type == Type.TOTP), None),
        passkeys=[_passkey(each) for each in held if each.type == Type.WEBAUTHN],
        codes_left=next((_left(each) for each in held if each.type == Type.RECOVERY_CODES), 0),
        connection=connection_of(person),
    )


def everybodys_sign_in() -> list[SignInOf]:
    """Return all who may sign in, by name."""
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
    return [_sign_in_of(person) for person in people]


def _sign_in_of(person: User) -> SignInOf:
    types = [each.type for each in person.authenticator_set.all()]  # type: ignore[attr-defined]
    return SignInOf(
        person=person,
        groups=sorted(group.name for group in person.groups.all()),
        has_app=Type.TOTP in types,
        passkeys=types.count(Type.WEBAUTHN),
        by_organisation=person.by_organisation,  # type: ignore[attr-defined]  # annotated
    )


def _passkey(held: Authenticator) -> Passkey:
    return Passkey(held.pk, held.wrap().name, held.created_at, held.last_used_at)


def _left(held: Authenticator) -> int | None:
    try:
        return len(held.wrap().get_unused_codes())
    except UnreadableSealError:
        return None
