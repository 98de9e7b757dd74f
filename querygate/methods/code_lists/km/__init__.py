"""k^m-anonymity: whoever knows m codes of somebody finds k records, or none."""
