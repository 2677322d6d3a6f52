"""The environment: each variable read once, typed and checked. A wrong one stops the start."""

import os
import re
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from config import addresses

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"


def _split(value: object) -> object:
    """Read `a, b` as two names, which is how a list is written in an environment."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _header_value(value: str) -> str:
    # As the client asks of it, which is made when the first page is asked for.
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ValueError("must be printable ASCII without blanks around it: a header carries it")
    return value


def _group(value: str) -> tuple[str, str]:
    """Read `editors=Publishers`: a value of the provider's claim, and our group that it gives."""
    theirs, _, ours = (part.strip() for part in value.rpartition("="))
    if not theirs or ours not in GROUPS:
        raise ValueError(f"{value} must be value=group, the group one of {', '.join(GROUPS)}")
    return theirs, ours


def _label(value: str) -> str:
    if not value.strip():
        raise ValueError("must hold more than blanks")
    return value.strip()


def _header_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", value):
        raise ValueError("must be the name of a header, such as X-Request-ID")
    return value


def _token(value: str) -> str:
    if not re.fullmatch(r"[!-~]{16,}", value):
        raise ValueError("must be 16 or more letters, digits and signs, without blanks")
    return value


GROUPS = ("Viewers", "Publishers", "Administrators")
"""Those a migration makes. Source: DESIGN.md, Rights."""

CommaSeparated = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Host = Annotated[str, AfterValidator(addresses.answered_host)]
Origin = Annotated[str, AfterValidator(addresses.origin)]
HttpUrl = Annotated[str, AfterValidator(addresses.http_url)]
IssuerUrl = Annotated[HttpUrl, AfterValidator(addresses.issuer)]
DatabaseUrl = Annotated[str, AfterValidator(addresses.database_url)]
CacheUrl = Annotated[str, AfterValidator(addresses.cache_url)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
Label = Annotated[str, AfterValidator(_label)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
Token = Annotated[str, AfterValidator(_token)]
GivenGroups = Annotated[
    list[Annotated[tuple[str, str], BeforeValidator(_group)]], NoDecode, BeforeValidator(_split)
]


class Environment(BaseSettings):
    """What Pressroom takes from its environment. Source: DESIGN.md, Running it."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    secret_key: str = Field(min_length=50)
    """Signs sessions and forms; at least 50 characters, the same on every machine."""
    secret_key_fallbacks: Annotated[CommaSeparated, Field(repr=False)] = []
    """Keys that were used before: what they signed still holds, nothing new is signed."""
    allowed_hosts: Annotated[list[Host], NoDecode, BeforeValidator(_split)] = []
    csrf_trusted_origins: Annotated[list[Origin], NoDecode, BeforeValidator(_split)] = []
    database_url: DatabaseUrl = f"sqlite:///{VAR_DIR / 'pressroom.sqlite3'}"
    cache_url: CacheUrl | None = None
    """`redis://host:port/n`; without it each process keeps a cache of its own."""
    debug: bool = False
    secure_cookies: bool = True
    """Cookies over https alone, http redirected to https. Off in the demo, which speaks http."""
    behind_proxy: bool = False
    """A proxy in front sets X-Forwarded-Proto itself and lets no client set it."""
    environment_name: Label = Field(default="Production", max_length=20)
    environment_colour: Literal["grey", "blue", "purple", "green", "amber", "red"] = "grey"
    """Stands behind the name on every page, so that one environment is not taken for another."""
    log_format: Literal["json", "line"] | None = None
    """How the log is written; unset, as lines on a terminal and as JSON everywhere else."""
    request_id_header: HeaderName | None = None
    """A header, such as X-Request-ID, that the proxy in front sets and lets no client set."""
    metrics_token: Token | None = Field(default=None, repr=False)
    """What `/metrics` is asked with; without it there is no such address."""
    otel_exporter_otlp_endpoint: HttpUrl | None = None
    otel_exporter_otlp_traces_endpoint: HttpUrl | None = None
    """The collector of traces. OpenTelemetry's SDK reads both itself, and the rest of its own."""
    otel_exporter_otlp_protocol: Literal["http/protobuf"] = "http/protobuf"
    otel_exporter_otlp_traces_protocol: Literal["http/protobuf"] = "http/protobuf"
    otel_traces_exporter: Literal["otlp", "none"] = "otlp"
    otel_sdk_disabled: bool = False
    api_calls_per_minute: int = Field(default=6_000, ge=1)
    """Of one key, at the API carried here."""
    service_url: HttpUrl | None = None
    service_api_key: HeaderValue | None = Field(default=None, repr=False)
    service_timeout_s: float = Field(default=30.0, gt=0, le=300)

    oidc_issuer: IssuerUrl | None = None
    """The organisation's OpenID Connect provider; without it people sign in by password alone."""
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = Field(default=None, repr=False)
    oidc_name: Label = Field(default="your organisation", max_length=40)
    """Stands on the button of the log-in page."""
    oidc_scopes: CommaSeparated = ["openid", "profile"]
    oidc_groups_claim: str = "groups"
    oidc_groups: GivenGroups = []
    """Which value of that claim gives which group here; who has none of them is not let in."""
    oidc_assures_second_factor: bool = False
    """The organisation asks everybody for a second factor, whether its tokens say so or not."""

    @property
    def traces(self) -> bool:
        """Whether there is a collector, and nobody said that it should hear nothing."""
        is_off = self.otel_sdk_disabled or self.otel_traces_exporter == "none"
        endpoint = self.otel_exporter_otlp_traces_endpoint or self.otel_exporter_otlp_endpoint
        return endpoint is not None and not is_off

    @model_validator(mode="after")
    def _service_is_whole(self) -> Self:
        if (self.service_url is None) != (self.service_api_key is None):
            missing = "SERVICE_URL" if self.service_url is None else "SERVICE_API_KEY"
            raise ValueError(f"{missing} is missing: set both for a service, neither for our own")
        return self

    @model_validator(mode="after")
    def _provider_is_whole(self) -> Self:
        asked = ("oidc_issuer", "oidc_client_id", "oidc_client_secret", "oidc_groups")
        missing = [name.upper() for name in asked if not getattr(self, name)]
        if 0 < len(missing) < len(asked):
            rest = ", ".join(name.upper() for name in asked)
            raise ValueError(f"{missing[0]} is missing: log-in by a provider takes {rest}")
        return self

    @model_validator(mode="after")
    def _traces_can_be_made(self) -> Self:
        if self.traces and not find_spec("opentelemetry"):
            raise ValueError(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and what makes traces is not installed: "
                "run uv sync --extra telemetry"
            )
        return self

    @model_validator(mode="after")
    def _hosts_are_named(self) -> Self:
        if not self.debug and not self.allowed_hosts:
            raise ValueError("ALLOWED_HOSTS is missing: name the hosts this dashboard answers to")
        return self


def read_environment() -> Environment:
    """Return the checked environment.

    Raises SystemExit with one sentence that names the variable when one is missing or wrong.
    """
    try:
        return Environment()
    except ValidationError as failure:
        problem = failure.errors(include_url=False, include_input=False)[0]
    except ValueError as failure:
        raise SystemExit(f"The environment can't be read: {failure}.") from None
    name = "_".join(str(part) for part in problem["loc"][:1]).upper()
    said = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        said = "is missing"
    raise SystemExit(f"{name}: {said}." if name else f"{said}.")


def use_demo_environment() -> None:
    """Set what the demo needs and the person has not set; data and secret live in `var/`."""
    VAR_DIR.mkdir(exist_ok=True)
    secret = VAR_DIR / "demo-secret"
    if not secret.exists():
        secret.write_text(secrets.token_urlsafe(48))
    os.environ.setdefault("SECRET_KEY", secret.read_text())
    os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1,localhost")
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{VAR_DIR / 'demo.sqlite3'}")
    os.environ.setdefault("SECURE_COOKIES", "false")
    os.environ.setdefault("ENVIRONMENT_NAME", "Demo")
    os.environ.setdefault("ENVIRONMENT_COLOUR", "blue")
