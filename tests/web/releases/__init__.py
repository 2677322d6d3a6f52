"""The pages of releases, by Django's test client."""
