"""SQL of visitors: each query in a process of its own, which can be ended."""
