select run_id
from {{ ref('run') }}
