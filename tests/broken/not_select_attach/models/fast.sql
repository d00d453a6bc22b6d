attach 'other.duckdb' as other
