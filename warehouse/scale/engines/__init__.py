"""What schedules tasks: processes of this machine, Ray, Spark, or any scheduler that runs a command."""
