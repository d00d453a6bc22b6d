select
    commit_id,
    sha,
    substring(sha, 1, 8) as short_sha,
    author,
    committed_at,
    branch,
    row_number() over (partition by branch order by committed_at) as branch_seq
from stg_commit
