"""Settings of servers in the suite: production's, with fast password hashing.

Production's hash takes half a second for each of about two hundred logins.
"""

from config.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
