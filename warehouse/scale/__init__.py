"""Work of a build that other processes and machines do: whole models on partitions, as tasks with receipts."""
