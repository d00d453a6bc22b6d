select *
from (pivot run on host using sum(speed))
