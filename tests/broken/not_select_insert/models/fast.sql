insert into run values ('r2', 'h2', 8, 2.5)
