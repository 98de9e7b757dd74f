"""What one request may take of the machine: time, a turn, a pace; and how it is stopped."""
