"""From facts to published numbers and back: query specs, number ids, publications, lineage."""
