"""What a warehouse promises, as one document that every surface returns."""
