select
    'café' as place
from run
