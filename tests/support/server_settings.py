"""The settings of the servers that the suite starts: production's, with fast password hashing.

Production's hash takes half a second for each of about two hundred logins. A selection of audiences
is sent to a view that shows what it was sent.
"""

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "tests.support.release_urls"
