select run_id from run;
select host from run;
