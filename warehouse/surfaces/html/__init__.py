"""Pages and reports as HTML: one set of components, drawn from parts, with the design of the documentation site."""
