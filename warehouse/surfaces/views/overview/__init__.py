"""The home page: what moved, what is new, what needs a decision, and the results of each kind of evidence that the warehouse has."""
