select sum(speed) over per_host as s from run
