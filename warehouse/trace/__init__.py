"""From a row of a rollup down to the bytes: provenance by rewriting SQL, and the runs that were left out."""
