select sqrt(host) as root, sqrt(date '2025-01-01') as day from run
