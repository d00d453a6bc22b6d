"""Keys and signatures."""
