"""Single sign-on (OpenID Connect): the provider, what it says of people, and programs that people let in."""
