"""What a version in the making is spoken of in, by those who make it and those who keep its rows."""
