-- Small enough to check an expectation by eye; with NULLs, a dangling key, ties and an empty group.
create schema feed;
create table host (id integer, name varchar, gpus integer);
insert into host values (1, 'a', 8), (2, 'b', 8), (3, 'c', 1);
create table run (id integer, host varchar, conc integer, tput integer, status varchar);
insert into run values
    (1, 'a', 1, 10, 'ok'), (2, 'a', 2, 20, 'ok'), (3, 'a', 4, null, 'failed'),
    (4, 'b', 1, 12, 'ok'), (5, 'b', 2, 18, 'ok'), (6, null, 4, 30, 'ok');
create table feed.sample (id integer, run_id integer, latency integer, tags integer[]);
insert into feed.sample values
    (1, 1, 5, [1, 2]), (2, 1, 7, []), (3, 2, 6, [3]), (4, 4, null, null), (5, 5, 9, [4]), (6, 99, 3, [5]);
