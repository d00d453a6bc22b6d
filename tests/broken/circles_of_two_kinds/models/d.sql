select x from c
