select x from main.c
