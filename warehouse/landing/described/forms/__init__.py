"""Files as trees of values with their bytes: JSON, XML, tables, insertions of SQL, lines of text; and the functions over these values."""
