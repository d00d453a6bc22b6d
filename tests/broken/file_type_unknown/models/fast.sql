select * from 'runs/a.txt'
