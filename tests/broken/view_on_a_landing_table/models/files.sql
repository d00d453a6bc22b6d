/*
description: files
materialized: view
*/
select raw_path from evidence_file
