"""Every promise measured again on the file that was written, with code of its own."""
