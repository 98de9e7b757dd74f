"""What commands share: who runs them, their options, what they print."""
