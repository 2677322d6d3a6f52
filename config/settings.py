"""Django's settings, from the validated environment."""

import sys
import zoneinfo
from pathlib import Path
from typing import Any

import dj_database_url
import dj_email_url
from csp.constants import NONE, SELF

from config.environment import (
    BASE_DIR,
    VAR_DIR,
    compiled_templates,
    create_private,
    read_environment,
)

env = read_environment()

# Use the time zones of the package tzdata: the machine's may be old.
zoneinfo.reset_tzpath(to=())

SECRET_KEY = env.secret_key
SECRET_KEY_FALLBACKS = env.secret_key_fallbacks
DEBUG = env.debug
ALLOWED_HOSTS = env.allowed_hosts
CSRF_TRUSTED_ORIGINS = env.csrf_trusted_origins
ENVIRONMENT_NAME = env.environment_name
ENVIRONMENT_COLOUR = env.environment_colour

# The service. Without a URL, the embedded API is the service and is called in process.
SERVICE_URL = env.service_url
SERVICE_API_KEY = env.service_api_key
SERVICE_TIMEOUT_S = env.service_timeout_s
CRAWL_RATE = env.crawl_rate
PRESENCE = env.presence
EMBEDDED_API = SERVICE_URL is None
SERVICE_TRANSPORT = "dashboard.embedded_api.transport.EmbeddedTransport" if EMBEDDED_API else None

# Seconds for which a version of the embedded API is queued, then processing.
EMBEDDED_API_QUEUE_S = 3.0
EMBEDDED_API_PROCESSING_S = 4.0
EMBEDDED_API_CALLS_PER_MINUTE = env.api_calls_per_minute
EVENTS_TO_PRIVATE_ADDRESSES = env.events_to_private_addresses
# Additional tasks of the worker.
WORKER_TASKS = (
    [
        "dashboard.embedded_api.deliveries.DELIVER_EVENTS",
        "dashboard.embedded_api.deliveries.DELETE_OLD_EVENTS",
    ]
    if EMBEDDED_API
    else []
)
# Function with which `after_restore` drops deliveries of events that may have been sent already.
DROPPED_AFTER_RESTORE = "dashboard.embedded_api.deliveries.drop_restored"

INSTALLED_APPS = [
    "dashboard.web",
    "dashboard.demo",
    "dashboard.server",
    "dashboard.machine",
    "dashboard.notifications",
    "dashboard.accounts",
    "dashboard.releases",
    "dashboard.comments",
    "dashboard.operations",
    "dashboard.service",
    "dashboard.saved_views",
    "dashboard.live",
    "dashboard.page_drafts",
    "dashboard.previews",
    "dashboard.approvals",
    "dashboard.review",
    "dashboard.webhooks",
    "dashboard.ledger",
    # Always installed, so that migrations do not depend on SERVICE_URL.
    "dashboard.embedded_api",
    "dashboard.accounts.admin_config.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "dashboard.server.apps.StaticFilesConfig",
    # Always installed, so that migrations do not depend on OIDC_ISSUER.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "axes",
    "csp",
    "django_htmx",
]

MIDDLEWARE = [
    "dashboard.accounts.sessions.robots_header_middleware",
    "dashboard.web.shell.https.missing_https_middleware",
    "dashboard.web.shell.https.public_url_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "dashboard.observability.log.access_log_middleware",
    "dashboard.service.health.record_calls_middleware",
    "dashboard.web.shell.middleware.allow_probe_host_middleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "dashboard.web.shell.middleware.IncompleteFormMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.accounts.sessions.session_expiry_middleware",
    "dashboard.web.shell.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "dashboard.web.shell.middleware.locale_middleware",
    "dashboard.web.shell.middleware.feed_cursor_middleware",
    "dashboard.web.shell.middleware.removed_object_middleware",
    "dashboard.web.shell.middleware.current_counts_middleware",
    "dashboard.web.shell.middleware.recent_visits_middleware",
    "dashboard.web.shell.middleware.ServiceErrorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CONTEXT_PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATES: list[dict[str, Any]] = [
    {  # Our own pages.
        "BACKEND": "dashboard.web.ui.jinja.JinjaTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "environment": "dashboard.web.shell.jinja.environment",
            "bytecode_cache": compiled_templates(),
            "context_processors": [
                *CONTEXT_PROCESSORS,
                "dashboard.web.shell.context_processors.shell",
            ],
        },
    },
    {  # Django's admin and allauth's e-mails.
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates" / "django"],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": CONTEXT_PROCESSORS},
    },
]

# Data. SQLite has one writer at a time: IMMEDIATE transactions wait at their start instead of
# failing at their end. The timeout, in seconds, limits a statement and its wait for a lock.
DATABASE_TIMEOUT_S = 20
VAR_DIR.mkdir(mode=0o700, exist_ok=True)
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(env.database_url, conn_max_age=60, conn_health_checks=True)
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    # In transaction mode, PgBouncer gives each transaction any connection, but a cursor belongs to
    # one. Large results are read in batches instead.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
    # In seconds, except tcp_user_timeout, in milliseconds. A server that disappears is noticed
    # after 20 s. The query string of DATABASE_URL overrides these options. See also
    # dashboard/server/database_limits.py.
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "tcp_user_timeout": DATABASE_TIMEOUT_S * 1000,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        **DATABASES["default"].get("OPTIONS", {}),
    }
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    if ":memory:" not in DATABASES["default"]["NAME"]:
        create_private(Path(DATABASES["default"]["NAME"]))
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": DATABASE_TIMEOUT_S,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
CACHES: dict[str, Any] = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# In the database only: a cache that is unavailable during a sign-out would keep the session.
SESSION_ENGINE = "django.contrib.sessions.backends.db"
if env.cache_url:
    CACHES["default"] = {
        "BACKEND": "dashboard.server.redis_cache.FaultTolerantRedisCache",
        "LOCATION": env.cache_url,
        "KEY_PREFIX": "pressroom",
        # Seconds. Redis is on the local network: a slower response means it is unavailable.
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }

# People.
LOGIN_URL = "login"
# Cookies. Two dashboards on one host, at different ports, must not share them.
COOKIE_PREFIX = env.cookie_prefix
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}session"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrf"
MESSAGES_COOKIE = f"{COOKIE_PREFIX}messages"
MESSAGE_STORAGE = "dashboard.web.shell.message_storage.MessageStorage"
MFA_TRUST_COOKIE_NAME = f"{COOKIE_PREFIX}trusted"
# For the login page; the setting of a logged-in user overrides it.
THEME_COOKIE = f"{COOKIE_PREFIX}theme"
# The browser's time zone; set by shell.js.
TIME_ZONE_COOKIE = f"{COOKIE_PREFIX}timezone"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "dashboard.accounts.authentication.PreloadingModelBackend",
]
_RULES = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_RULES}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_RULES}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_RULES}.CommonPasswordValidator"},
    {"NAME": f"{_RULES}.NumericPasswordValidator"},
]
AXES_HANDLER = "dashboard.accounts.sign_in.SignInAttempts"
AXES_FAILURE_LIMIT = 10  # per username and IP address
SIGN_IN_FAILURES_PER_ADDRESS = 30  # per IP address, for all usernames together
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "dashboard.accounts.views.locked"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "dashboard.accounts.sessions.client_address"
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_VERBOSE = False
# Do not store wrong passwords and codes: they are often nearly right.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "credential"]

# The second factor. Wrong codes are counted in the database, like wrong passwords. The library
# counts in the cache: per process, or not at all while Redis is unavailable.
ACCOUNT_ADAPTER = "dashboard.accounts.allauth_adapters.AccountAdapter"
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_EMAIL_VERIFICATION = "none"
MFA_ADAPTER = "dashboard.accounts.allauth_adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_TOLERANCE = 1  # steps of 30 seconds by which a phone's clock may differ

# Login with the organization's provider.
SOCIALACCOUNT_ADAPTER = "dashboard.accounts.allauth_adapters.SocialAccountAdapter"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10  # seconds
OIDC_ISSUER = env.oidc_issuer
OIDC_CLIENT_ID = env.oidc_client_id
OIDC_CLIENT_SECRET = env.oidc_client_secret
OIDC_NAME = env.oidc_name
OIDC_SCOPES = env.oidc_scopes
OIDC_GROUPS_CLAIM = env.oidc_groups_claim
OIDC_GROUPS = env.oidc_groups
OIDC_ASSURES_SECOND_FACTOR = env.oidc_assures_second_factor

# Notifications. Without EMAIL_URL, no e-mails are sent, not even by Django or allauth.
PUBLIC_URL = env.public_url or env.default_public_url
HAS_PUBLIC_URL = env.public_url is not None
EMAIL_IS_ON = env.email_url is not None
_email = dj_email_url.parse(env.email_url or "dummy:")
EMAIL_BACKEND = _email["EMAIL_BACKEND"].replace(
    "django.core.mail.backends.smtp.EmailBackend", "dashboard.notifications.email.SMTPBackend"
)
EMAIL_HOST, EMAIL_PORT = _email["EMAIL_HOST"], _email["EMAIL_PORT"]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_USER"], _email["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = _email["EMAIL_USE_TLS"], _email["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = 10  # seconds for each step with the mail server; an e-mail takes up to 30
if env.email_from:
    DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.email_from
# Seconds that events wait for others to share a message: after the last event, and at most.
NOTIFICATION_WINDOW_S = (20.0, 60.0)
# Seconds in which further comments join the notification of the first one.
COMMENT_WINDOW_S = 300.0
WEBHOOKS_TO_LOOPBACK = env.webhooks_to_loopback

# Texts are English. Middleware sets the user's time zone and formats for each request.
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Static files: hashed names, compressed once, cached permanently.
STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.server.static_files.StaticFiles"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
# Pages only use hashed names; compressing the other files would double the first start's time.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# Limits of a request: forms may have any number of rows.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
FILE_UPLOAD_HANDLERS = ["dashboard.web.ui.request_body.RejectFilesHandler"]

# Security. Inline scripts and styles are neither used nor allowed.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "report-uri": "/service/policy-report/",
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = env.secure_cookies
SECURE_HSTS_SECONDS = 31_536_000 if env.secure_cookies else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env.secure_cookies
# The host of redirects to https; by default the host of the request.
SECURE_SSL_HOST = env.public_https_host
BEHIND_PROXY = env.behind_proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.behind_proxy else None
# These are requested over http within the network.
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_IDLE_S = 60 * 60
CSRF_FAILURE_VIEW = "dashboard.web.shell.errors.csrf_failure"

# Observability: logs on standard error, /metrics, traces.
LOG_FORMAT = env.log_format or ("line" if sys.stderr.isatty() else "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "dashboard.observability.log.TextFormatter"},
        "json": {"()": "dashboard.observability.log.JsonFormatter"},
    },
    "filters": {"without_query": {"()": "dashboard.observability.log.WithoutQuery"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "dashboard": {"level": "INFO"},
        "httpx": {"level": "WARNING"},
        # Remove Django's handlers: one of them e-mails the whole failed request.
        "django": {"level": "INFO", "handlers": []},
        "gunicorn.error": {"level": "WARNING", "filters": ["without_query"], "propagate": True},
    },
}
REQUEST_ID_HEADER = env.request_id_header
METRICS_TOKEN = env.metrics_token
TRACES = env.traces
