"""Every page of the console in every state it has, in a browser: `make soak ONLY=pages`."""
