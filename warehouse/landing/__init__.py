"""From evidence to typed landing rows: the ingestor contract, recognition, parsing, batches."""
