"""The pages of releases, with Django's test client."""
