select lenght(host) as letters from run
