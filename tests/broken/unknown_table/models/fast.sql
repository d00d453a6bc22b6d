select *
from rnu
