select
    round(speed, 2 as rounded
from run
