with by_host as (pivot run on host using sum(speed))
select * from by_host
