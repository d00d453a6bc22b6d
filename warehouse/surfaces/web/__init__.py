"""`wh serve`: the pages and the API over HTTP."""
