"""Starts of models, query specs and ingestors that `wh new` writes into a project: files to go on from, which work as they are."""
