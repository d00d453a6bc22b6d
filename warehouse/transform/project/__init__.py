"""A project's models as values: their files, headers, graph, feeds, file sources and digests."""
