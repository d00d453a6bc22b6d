"""The documentation site: static pages that open from disk, with no server and no network."""
