"""What the gate remembers of single sign-on: who is who at the provider, who is on the way, which programs wait."""
