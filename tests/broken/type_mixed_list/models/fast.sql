select [1, 'a', date '2025-01-01'] as mixed from run
