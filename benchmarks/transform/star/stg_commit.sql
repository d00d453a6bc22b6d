select
    commit_id,
    sha,
    author,
    committed_at,
    branch
from read_parquet('data/base/commits.parquet')
