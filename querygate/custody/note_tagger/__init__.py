"""A learned tagger of identifiers in notes: trained, kept in a file, and measured beside the rules."""
