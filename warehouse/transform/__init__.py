"""From landing rows to facts and dimensions: models, their graph, the check, the build."""
