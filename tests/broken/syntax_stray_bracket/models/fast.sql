select speed) as speed
from run
