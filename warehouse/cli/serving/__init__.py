"""Commands about served models under load."""
