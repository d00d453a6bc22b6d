--- WH213 copy over the build
copy (select 1) to '{build}'
--- WH213 copy a log beside the build
copy (select 1) to '{build}.wal'
--- WH213 copy to the project
copy (select 1) to '{project}/planted.csv'
--- WH213 copy a table
copy reading to '{outside}.csv'
--- WH213 copy in a CTE
with a as (copy (select 1) to '{build}.wal') select * from a
--- WH213 copy in a materialized CTE
with a as materialized (copy (select 1) to '{build}') from a
--- WH213 copy in a CTE of a CTE
with a as (with b as (copy (select 1) to '{build}.wal') from b) from a
--- WH213 copy in a CTE of a subquery
select * from (with a as (copy (select 1) to '{build}.wal') from a)
--- WH213 copy in a CTE of an expression
select (with a as (copy (select 1) to '{build}.wal') select count(*) from a)
--- WH213 copy in a CTE under describe
describe with a as (copy (select 1) to '{build}.wal') from a
--- WH213 copy in a CTE under summarize
summarize with a as (copy (select 1) to '{build}.wal') from a
--- WH213 copy in a CTE beside a pivot
with a as (copy (select 1) to '{build}.wal') pivot (from a, range(3)) on range using count(*)
--- WH213 copy in a pivot's source
pivot (with a as (copy (select 1 as b) to '{build}.wal') from a) on "Count" using count(*)
--- WH213 copy between invisible blanks
with a as (​copy​ (select 1) to '{build}.wal') from a
--- WH213 copy after a comment in a comment
/* /* */ from reading; -- */ with a as (copy (select 1) to '{build}.wal') from a
--- WH213 explain analyze copy
explain analyze copy (select 1) to '{build}.wal'
--- WH213 explain analyze copy, in brackets
explain (analyze, format json) copy (select 1) to '{build}.wal'
--- WH213 explain analyze of a CTE that copies
explain analyze with a as (copy (select 1) to '{build}.wal') from a
--- WH213 explain analyze after comments
/* x */ explain /* y */ analyze -- z
copy (select 1) to '{build}.wal'
--- WH213 explain analyze of a table function
explain analyze from enable_logging()
--- WH213 explain analyze create
explain analyze create table t as select 1
--- WH213 a second statement
select 1; copy (select 1) to '{build}.wal'
--- WH213 a second statement after an empty one
select 1;; ; delete from reading
--- WH213 copy from
copy reading from '{outside}'
--- WH213 export
export database '{project}/dump'
--- WH213 import
import database '{project}'
--- WH213 attach
attach '{outside}' as other
--- WH213 attach the build for writing
attach '{build}' as other (read_write)
--- WH213 detach
detach database memory
--- WH213 create
create table planted as select 1
--- WH213 create a temporary macro over a function
create temp macro sum(x) as 0
--- WH213 create a secret
create persistent secret planted (type s3)
--- WH213 insert
insert into reading select * from reading
--- WH213 insert in a CTE
with a as (insert into reading from reading returning *) from a
--- WH213 delete in a CTE
with a as (delete from reading returning *) from a
--- WH213 update in a CTE
with a as (update reading set value = 0.001 returning *) from a
--- WH213 update
update reading set value = 0.001
--- WH213 drop
drop table reading
--- WH213 alter
alter table reading add column planted int
--- WH213 truncate
truncate reading
--- WH213 merge
merge into reading using (select 1) as s on true when matched then delete
--- WH213 install
install httpfs
--- WH213 load a file
load '{outside}'
--- WH213 update extensions
update extensions
--- WH213 a setting
set enable_external_access = true
--- WH213 another setting
reset enable_external_access
--- WH213 a setting by pragma
pragma enable_profiling = 'json'
--- WH213 profiling into a file
set profiling_output = '{project}/planted.json'
--- WH213 logging by call
call enable_logging(storage = 'file', storage_path = '{project}/logs')
--- WH213 logging from a select
select * from enable_logging(level := 'trace', storage := 'stdout')
--- WH213 logging by a quoted, qualified name
select * from system.main."ENABLE_LOGGING"()
--- WH213 logging in an expression
select exists (from `enable_logging`())
--- WH213 profiling from a select
from enable_profiling(format := 'json')
--- WH213 a checkpoint
checkpoint
--- WH213 a checkpoint from a select
from force_checkpoint()
--- WH213 SQL in a text
from query('select * from enable_logging()')
--- WH213 a serialized statement
from json_execute_serialized_sql(json_serialize_sql('select * from enable_logging()'))
--- WH213 a prepared statement
prepare p as select 1
--- WH213 a transaction
begin
--- WH213 vacuum
vacuum
--- WH213 a pointer
from arrow_scan(1::pointer, 2::pointer, 3::pointer)
--- WH213 a file
from read_text('{outside}')
--- WH213 a file by its name
from '{outside}'
--- WH213 a file beside a free pivot
pivot (from read_csv('{outside}')) on canary
--- WH213 a file through a column
select * from (values ('{outside}')) as f (path), lateral (from read_text(path))
--- WH213 files of a folder
from glob('{project}/**')
--- WH213 another database
from read_duckdb('{outside}')
--- WH213 the secrets of the user
from duckdb_secrets()
--- WH213 the environment
select getenv('HOME')
--- WH213 an address
from read_csv('http://127.0.0.1:1/x.csv')
--- WH215 rows without end
with recursive t(i) as (select 1 union all select i + 1 from t) select count(*) from t
--- WH215 more rows than atoms
select count(*) from range(100000000) as a, range(100000000) as b
--- WH213 too many brackets
select {opening}1{closing}
