"""What every class must keep besides its size."""
