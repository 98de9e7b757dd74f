"""Keys beyond their table: those accepted a moment ago, and those that are proved and not shown."""
