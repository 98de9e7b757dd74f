"""The forms of an answer, made of its JSON: the same at a gate and at a client, so they need no library but pyarrow."""
