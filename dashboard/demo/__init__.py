"""What `manage.py demo` puts around the sample data: accounts, and a ledger in use for weeks."""
