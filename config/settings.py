"""Django's settings, made from the checked environment."""

import sys
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF

from config.environment import BASE_DIR, VAR_DIR, read_environment

env = read_environment()

SECRET_KEY = env.secret_key
SECRET_KEY_FALLBACKS = env.secret_key_fallbacks
DEBUG = env.debug
ALLOWED_HOSTS = env.allowed_hosts
CSRF_TRUSTED_ORIGINS = env.csrf_trusted_origins
ENVIRONMENT_NAME = env.environment_name
ENVIRONMENT_COLOUR = env.environment_colour

# The service. With no address set, the embedded API is the service and is called in process.
SERVICE_URL = env.service_url
SERVICE_API_KEY = env.service_api_key
SERVICE_TIMEOUT_S = env.service_timeout_s
EMBEDDED_API = SERVICE_URL is None
SERVICE_TRANSPORT = "dashboard.embedded_api.transport.EmbeddedTransport" if EMBEDDED_API else None

# How long the embedded API keeps a version in each state before the next, in seconds.
EMBEDDED_API_QUEUE_S = 3.0
EMBEDDED_API_PROCESSING_S = 4.0
EMBEDDED_API_CALLS_PER_MINUTE = env.api_calls_per_minute

INSTALLED_APPS = [
    "dashboard.web",
    "dashboard.ledger",
    # The embedded API's tables exist everywhere, so that a migration never depends on SERVICE_URL.
    "dashboard.embedded_api",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    # Their tables exist everywhere, so that a migration never depends on OIDC_ISSUER.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "axes",
    "csp",
    "django_htmx",
    "template_partials",
]

MIDDLEWARE = [
    "dashboard.web.frames.with_room",
    "dashboard.web.sessions.noindex",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dashboard.web.middleware.CompressedPages",
    "dashboard.web.request_log.noted_requests",
    "dashboard.web.watching.watched",
    "dashboard.web.middleware.probes_by_address",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.web.sessions.sessions_end",
    "dashboard.web.middleware.LoginRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "dashboard.web.middleware.readers_time_zone",
    "dashboard.web.middleware.readers_language",
    "dashboard.web.recent.note_visits",
    "dashboard.web.middleware.ServiceErrors",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.web.context_processors.shell",
            ],
            "builtins": [
                "django.templatetags.static",
                "template_partials.templatetags.partials",
                "dashboard.web.templatetags.pressroom",
            ],
        },
    }
]

# Data. SQLite takes one writer at a time: begin as a writer, wait for the turn, and no
# transaction fails at its end.
VAR_DIR.mkdir(exist_ok=True)
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(env.database_url, conn_max_age=60, conn_health_checks=True)
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
CACHES: dict[str, Any] = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# In the database alone, though a cache would spare a query: one that was away while somebody signed
# out still has them signed in.
SESSION_ENGINE = "dashboard.web.session_store"
if env.cache_url:
    CACHES["default"] = {
        "BACKEND": "dashboard.web.shared_cache.SharedCache",
        "LOCATION": env.cache_url,
        "KEY_PREFIX": "pressroom",
        # Seconds. It stands beside us: one that takes longer is away.
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }

# People.
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "dashboard.web.authentication.WithPreferences",
]
_RULES = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_RULES}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_RULES}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_RULES}.CommonPasswordValidator"},
    {"NAME": f"{_RULES}.NumericPasswordValidator"},
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "dashboard.web.views.accounts.locked"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "dashboard.web.sessions.client_address"
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_VERBOSE = False
# What was typed wrong is often nearly right: of codes, too, only how many were wrong is kept.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "credential"]

# The second factor. Wrong codes are counted as wrong passwords are, in the database: what the
# library counts in the cache would be each process's own, and nobody's while a Redis is away.
ACCOUNT_ADAPTER = "dashboard.web.adapters.SignIn"
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_EMAIL_VERIFICATION = "none"
MFA_ADAPTER = "dashboard.web.adapters.SecondFactors"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_TOLERANCE = 1  # steps of 30 seconds that a telephone's clock may be off

# Log-in by the organisation's provider.
SOCIALACCOUNT_ADAPTER = "dashboard.web.adapters.SingleSignOn"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10  # seconds
OIDC_ISSUER = env.oidc_issuer
OIDC_CLIENT_ID = env.oidc_client_id
OIDC_CLIENT_SECRET = env.oidc_client_secret
OIDC_NAME = env.oidc_name
OIDC_SCOPES = env.oidc_scopes
OIDC_GROUPS_CLAIM = env.oidc_groups_claim
OIDC_GROUPS = env.oidc_groups
OIDC_ASSURES_SECOND_FACTOR = env.oidc_assures_second_factor

# Languages and times. The words are English. The reader's zone, and the language that numbers and
# days are written in, are set for each request; what no filter writes is as Python has it.
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Static files: hashed names, compressed once, kept for good.
STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.web.bundles.StaticFiles"},
}
WHITENOISE_ALLOW_ALL_ORIGINS = False
# Pages name hashed files alone; compressing the others too would double the time of a first start.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# A form with rows is as large as a person types it; at most this much of it comes at once.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

# Safety. No inline script or style anywhere, and none needed.
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
BEHIND_PROXY = env.behind_proxy
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.behind_proxy else None
# Asked inside the network, where nobody speaks https.
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_IDLE_S = 60 * 60
CSRF_FAILURE_VIEW = "dashboard.web.views.errors.csrf_failure"

# What is told: the log, on standard error, the counts that /metrics answers with, and traces.
LOG_FORMAT = env.log_format or ("line" if sys.stderr.isatty() else "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "dashboard.web.logs.TextLine"},
        "json": {"()": "dashboard.web.logs.JsonLine"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "dashboard": {"level": "INFO"},
        "httpx": {"level": "WARNING"},
        # Without Django's own handlers: one would mail all that stood in a request that failed.
        "django": {"level": "INFO", "handlers": []},
    },
}
REQUEST_ID_HEADER = env.request_id_header
METRICS_TOKEN = env.metrics_token
TRACES = env.traces
