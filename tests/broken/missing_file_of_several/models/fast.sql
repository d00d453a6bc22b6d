select *
from read_csv(['runs/a.csv', 'runs/b.csv'])
