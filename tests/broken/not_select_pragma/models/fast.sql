-- threads
pragma threads = 4
