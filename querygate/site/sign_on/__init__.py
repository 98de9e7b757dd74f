"""Single sign-on as a site describes it: the provider, and what its groups bring."""
