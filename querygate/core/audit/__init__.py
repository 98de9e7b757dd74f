"""What an audit reads, and the body of its report."""
