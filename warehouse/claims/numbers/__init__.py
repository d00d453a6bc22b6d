"""Numbers as people ask for them: ids, search, lineage and impact."""
