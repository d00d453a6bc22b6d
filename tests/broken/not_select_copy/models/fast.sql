copy (select * from run) to 'run.csv'
