select sum(count(*)) as runs from run group by host
