select r.sped
from run as r
