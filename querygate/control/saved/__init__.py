"""What people keep for themselves or share: queries, and notebooks of them. Never an answer."""
