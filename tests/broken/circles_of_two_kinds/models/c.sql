select x from d
