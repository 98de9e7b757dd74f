"""What a store and its log prove by themselves: replayed answers, weak classes, signs of probing."""
