select x from b
