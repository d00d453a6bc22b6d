select x.speed from run as r
