"""Raw rows, and the code that writes and reads them. Only custody imports this."""
