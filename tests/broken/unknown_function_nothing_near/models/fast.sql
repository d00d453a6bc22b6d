select median_of_medians(speed) as m from run
