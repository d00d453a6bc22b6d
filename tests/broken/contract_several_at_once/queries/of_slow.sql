/*
grain: [run_idd]
*/
select run_idd, 1 as n from slow
