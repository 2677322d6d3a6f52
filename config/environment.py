"""Read and validate the environment variables; an invalid one stops the start."""

import argparse
import os
import re
import secrets
import sys
import tomllib
from contextlib import suppress
from difflib import get_close_matches
from email.utils import formataddr, parseaddr
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlsplit

from jinja2 import FileSystemBytecodeCache
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from config import url_validators

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"


def sqlite_url(path: Path) -> str:
    """Return the DATABASE_URL of a file; its path may contain `#`, `?`, `%` and spaces."""
    return f"sqlite:///{quote(str(path))}"


def _split(value: object) -> object:
    """Split `a, b` into a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _header_value(value: str) -> str:
    # The client requires this too, but only checks it on the first request.
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ValueError(
            "must be printable ASCII without surrounding spaces: it is sent in a header"
        )
    return value


def _group_mapping(value: str) -> tuple[str, str]:
    """Split `editors=Publishers` into a value of the provider's claim and one of our groups."""
    theirs, _, ours = (part.strip() for part in value.rpartition("="))
    if not theirs or ours not in GROUPS:
        raise ValueError(f"{value} must be value=group, the group one of {', '.join(GROUPS)}")
    return theirs, ours


def _random_key(value: str) -> str:
    """Reject a key that was obviously typed by hand."""
    repeats = value in (value + value)[1:-1]
    if value.startswith("django-insecure-") or repeats or len(set(value)) < MIN_DISTINCT:
        raise ValueError(
            "is guessable: generate one with "
            "`python -c 'import secrets; print(secrets.token_urlsafe(48))'`"
        )
    return value


def _label(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value.strip()


def _header_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", value):
        raise ValueError("must be a header name, such as X-Request-ID")
    return value


def _email_from(value: str) -> str:
    """Accept `desk@example.com` and `Pressroom <desk@example.com>`."""
    name, address = parseaddr(value)
    user, _, host = address.rpartition("@")
    is_header = value.isprintable() and value.isascii()
    if not user or not host or not is_header or formataddr((name, address)) != value:
        raise ValueError("must be an address, such as Pressroom <pressroom@example.com>")
    return value


def _token(value: str) -> str:
    if not re.fullmatch(r"[!-~]{16,}", value):
        raise ValueError("must be 16 or more letters, digits and symbols, without spaces")
    return value


GROUPS = ("Viewers", "Publishers", "Administrators")
"""Groups that a migration creates; `OIDC_GROUPS` can name no others."""

MIN_DISTINCT = 8
"""Minimum number of different characters in a key. One in 100,000 random keys of fifty digits has
fewer."""
MIN_SIMILARITY = 0.84
"""Minimum similarity, 0 to 1, of a misspelt name: matches SERVICE_KEY, not TEST_DATABASE_URL."""

CommaSeparated = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Host = Annotated[str, AfterValidator(url_validators.allowed_host)]
Origin = Annotated[str, AfterValidator(url_validators.origin)]
HttpUrl = Annotated[str, AfterValidator(url_validators.http_url)]
ServiceUrl = Annotated[HttpUrl, AfterValidator(url_validators.service_url)]
SecretKey = Annotated[str, AfterValidator(_random_key)]
IssuerUrl = Annotated[HttpUrl, AfterValidator(url_validators.issuer_url)]
DatabaseUrl = Annotated[str, AfterValidator(url_validators.database_url)]
EmailUrl = Annotated[str, AfterValidator(url_validators.email_url)]
EmailFrom = Annotated[str, AfterValidator(_email_from)]
CacheUrl = Annotated[str, AfterValidator(url_validators.cache_url)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
Label = Annotated[str, AfterValidator(_label)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
Token = Annotated[str, AfterValidator(_token)]
GroupMappings = Annotated[
    list[Annotated[tuple[str, str], BeforeValidator(_group_mapping)]],
    NoDecode,
    BeforeValidator(_split),
]


class Environment(BaseSettings):
    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    secret_key: SecretKey = Field(min_length=50, repr=False)
    """Key that signs sessions and forms: at least 50 characters, the same on every machine."""
    secret_key_fallbacks: Annotated[CommaSeparated, Field(repr=False)] = []
    """Previous keys, which still verify signatures but sign nothing new."""
    allowed_hosts: Annotated[list[Host], NoDecode, BeforeValidator(_split)] = []
    csrf_trusted_origins: Annotated[list[Origin], NoDecode, BeforeValidator(_split)] = []
    database_url: DatabaseUrl = Field(default=sqlite_url(VAR_DIR / "pressroom.sqlite3"), repr=False)
    cache_url: CacheUrl | None = Field(default=None, repr=False)
    """`redis://host:port/n`; without it, each process has its own cache."""
    public_url: HttpUrl | None = None
    """URL at which users open Pressroom. Used in links, redirects and the names of our cookies."""
    email_url: EmailUrl | None = Field(default=None, repr=False)
    """The mail server; without it, no e-mails are sent."""
    email_from: EmailFrom | None = None
    webhooks_to_loopback: bool = False
    """Allow webhooks to http URLs and to this machine. On in the demo."""
    debug: bool = False
    secure_cookies: bool = True
    """Send cookies only over https, and redirect http to https. Off in the demo."""
    behind_proxy: bool = False
    """Whether a proxy sets X-Forwarded-Proto and removes the client's."""
    environment_name: Label = Field(default="Production", max_length=20)
    environment_colour: Literal["grey", "blue", "purple", "green", "amber", "red"] = "grey"
    """Color behind the environment's name on every page, to distinguish environments."""
    log_format: Literal["json", "line"] | None = None
    """Default: lines on a terminal, JSON elsewhere."""
    request_id_header: HeaderName | None = None
    """Header, such as X-Request-ID, that the proxy sets after removing the client's."""
    metrics_token: Token | None = Field(default=None, repr=False)
    """The token for `/metrics`; without it, the URL returns 404."""
    otel_exporter_otlp_endpoint: HttpUrl | None = None
    otel_exporter_otlp_traces_endpoint: HttpUrl | None = None
    """URL of the trace collector. OpenTelemetry's SDK reads this and its other variables itself."""
    otel_exporter_otlp_protocol: Literal["http/protobuf"] = "http/protobuf"
    otel_exporter_otlp_traces_protocol: Literal["http/protobuf"] = "http/protobuf"
    otel_traces_exporter: Literal["otlp", "none"] = "otlp"
    otel_sdk_disabled: bool = False
    api_calls_per_minute: int = Field(default=6_000, ge=1)
    """Rate limit of each key of the embedded API."""
    events_to_private_addresses: bool = False
    """Let the embedded API send events to https receivers in private networks."""
    service_url: ServiceUrl | None = None
    service_api_key: HeaderValue | None = Field(default=None, repr=False)
    service_timeout_s: float = Field(default=30.0, gt=0, le=300)
    crawl_rate: float = Field(default=5.0, ge=0, le=1000)
    """Maximum calls per second of the worker's crawl, which reads all pages; 0 turns it off."""
    presence: bool = True
    """Show users who else has the same audience, release or request open."""

    oidc_issuer: IssuerUrl | None = None
    """The organization's OpenID Connect provider; without it, users sign in with a password."""
    oidc_client_id: str | None = None
    oidc_client_secret: str | None = Field(default=None, repr=False)
    oidc_name: Label = Field(default="your organization", max_length=40)
    """Name on the button of the login page."""
    oidc_scopes: CommaSeparated = ["openid", "email", "profile"]
    oidc_groups_claim: str = "groups"
    oidc_groups: GroupMappings = []
    """Map from values of the claim to our groups; users without any are rejected."""
    oidc_assures_second_factor: bool = False
    """Whether the organization requires a second factor of everybody, even if a token lacks it."""

    @property
    def traces(self) -> bool:
        """Whether traces are exported: there is a collector, and exporting is not turned off."""
        is_off = self.otel_sdk_disabled or self.otel_traces_exporter == "none"
        endpoint = self.otel_exporter_otlp_traces_endpoint or self.otel_exporter_otlp_endpoint
        return endpoint is not None and not is_off

    @property
    def default_public_url(self) -> str:
        """The URL of the first allowed host that is not a pattern, or "" if there is none."""
        hosts = [host for host in self.allowed_hosts if host[0] not in "*."]
        scheme = "https" if self.secure_cookies or self.behind_proxy else "http"
        return f"{scheme}://{hosts[0]}" if hosts else ""

    @property
    def public_https_host(self) -> str | None:
        """The host and port of PUBLIC_URL, if it is https."""
        parts = urlsplit(self.public_url or "")
        return parts.netloc if parts.scheme == "https" else None

    @property
    def cookie_prefix(self) -> str:
        """The prefix of our cookies' names, as browsers share cookies among the ports of a host.

        It depends on PUBLIC_URL only: all else may differ between the machines of one dashboard.
        """
        digest = blake2b((self.public_url or "").lower().encode(), digest_size=4).hexdigest()
        return f"pressroom_{digest}_" if self.public_url else "pressroom_"

    @model_validator(mode="after")
    def _check_email(self) -> Self:
        if (self.email_url is None) != (self.email_from is None):
            missing = "EMAIL_URL" if self.email_url is None else "EMAIL_FROM"
            raise ValueError(f"{missing} is missing: set both to send e-mails, or neither for none")
        if self.email_url and not (self.public_url or self.default_public_url):
            raise ValueError("PUBLIC_URL is missing: e-mails have links to this dashboard")
        return self

    @model_validator(mode="after")
    def _check_service(self) -> Self:
        if (self.service_url is None) != (self.service_api_key is None):
            missing = "SERVICE_URL" if self.service_url is None else "SERVICE_API_KEY"
            raise ValueError(
                f"{missing} is missing: set both to use a service, or neither for the built-in API"
            )
        return self

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        required = ("oidc_issuer", "oidc_client_id", "oidc_client_secret", "oidc_groups")
        missing = [name.upper() for name in required if not getattr(self, name)]
        if 0 < len(missing) < len(required):
            rest = ", ".join(name.upper() for name in required)
            raise ValueError(f"{missing[0]} is missing: sign-in with a provider requires {rest}")
        return self

    @model_validator(mode="after")
    def _check_traces(self) -> Self:
        if self.traces and not find_spec("opentelemetry"):
            raise ValueError(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, but tracing is not installed: "
                "run uv sync --extra telemetry"
            )
        return self

    @model_validator(mode="after")
    def _check_hosts(self) -> Self:
        if not self.debug and not self.allowed_hosts:
            raise ValueError("ALLOWED_HOSTS is missing: list the hosts that serve this dashboard")
        return self


def read_environment() -> Environment:
    """Return the validated environment.

    Raises SystemExit with a sentence that names the first missing or invalid variable.
    """
    try:
        return Environment()
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
    except ValueError as error:
        raise SystemExit(f"The environment can't be read: {error}.") from None
    name = "_".join(str(part) for part in problem["loc"][:1]).upper()
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        message = "is missing"
    raise SystemExit(f"{name}: {message}." if name else f"{message}.")


@cache
def project_version() -> str:
    project = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read, unless it exists.

    SQLite gives its `-wal` and `-shm` files the same mode. Errors are ignored here, because opening
    the file raises one with a better message.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o600))


def compiled_templates() -> FileSystemBytecodeCache | None:
    """Return the cache of compiled templates, or None if it is not writable.

    Compiling all templates takes 0.3 s.
    """
    folder = VAR_DIR / "templates"
    with suppress(OSError):
        VAR_DIR.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


def misspelt_variables() -> dict[str, str]:
    """Return the environment's misspelt variables, each with the correct name."""
    ours = [name.upper() for name in Environment.model_fields]
    # OpenTelemetry's SDK has many more variables than the few above.
    unknown = [name for name in os.environ if name.upper() not in ours and name[:5] != "OTEL_"]
    matches = {
        name: get_close_matches(name.upper(), ours, n=1, cutoff=MIN_SIMILARITY) for name in unknown
    }
    return {name: suggestions[0] for name, suggestions in sorted(matches.items()) if suggestions}


def use_demo_environment() -> None:
    """Set defaults for the demo. Its data and secret are in `var/`."""
    VAR_DIR.mkdir(mode=0o700, exist_ok=True)
    secret = VAR_DIR / "demo-secret"
    if not secret.exists():
        create_private(secret)
        secret.write_text(secrets.token_urlsafe(48))
    os.environ.setdefault("SECRET_KEY", secret.read_text())
    os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1,localhost")
    if port := _demo_port():
        os.environ.setdefault("PUBLIC_URL", f"http://127.0.0.1:{port}")
    os.environ.setdefault("DATABASE_URL", sqlite_url(VAR_DIR / "demo.sqlite3"))
    os.environ.setdefault("SECURE_COOKIES", "false")
    os.environ.setdefault("WEBHOOKS_TO_LOOPBACK", "true")
    os.environ.setdefault("ENVIRONMENT_NAME", "Demo")
    os.environ.setdefault("ENVIRONMENT_COLOUR", "blue")


def _demo_port() -> int | None:
    """Return the port of the command line, or None if it is invalid: the command reports it."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--port", type=int, default=8000)
    with suppress(argparse.ArgumentError):
        port: int = parser.parse_known_args(sys.argv[2:])[0].port
        return port if 0 < port < 65_536 else None
    return None
