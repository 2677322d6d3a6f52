"""What `manage.py demo` adds to the sample data: accounts, and a ledger after weeks of use."""
