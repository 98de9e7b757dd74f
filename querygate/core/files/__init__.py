"""Files of a site: readable by their owner alone, on a disk that may be full, the same bytes as were put on record."""
