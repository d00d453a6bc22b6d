select latency_ms from run
