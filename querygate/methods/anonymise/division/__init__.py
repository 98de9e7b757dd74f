"""Methods that divide the records from the top down, or along a line."""
