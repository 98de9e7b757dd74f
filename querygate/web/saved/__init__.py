"""What people keep, over HTTP."""
