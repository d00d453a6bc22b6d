"""Hot metrics of the current build, for Prometheus."""
