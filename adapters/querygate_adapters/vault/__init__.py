"""Raw rows, and whoever writes or reads them. Only custody imports this."""
