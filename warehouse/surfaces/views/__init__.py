"""The views, a module for each subject. `all_views` has the table of them."""
