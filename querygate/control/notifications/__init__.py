"""Telling somebody outside: webhooks, mail, and the outbox that keeps what has not arrived."""
