select
    strptime(host) as at
from run
