select sped from fast
