"""Evidence from a store and its log alone: replayed answers, weak classes, signs of probing."""
