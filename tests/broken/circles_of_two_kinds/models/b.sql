select x from a
