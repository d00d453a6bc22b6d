select * from raw_data.events
