"""How the values that `Warehouse` returns look in a notebook: fragments of HTML, whose values are all escaped."""
