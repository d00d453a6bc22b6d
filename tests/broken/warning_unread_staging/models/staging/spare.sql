-- nobody asks
select 1 as a
