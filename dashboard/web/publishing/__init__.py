"""The publish dialog."""
