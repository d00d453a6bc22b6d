select a from pg_class
