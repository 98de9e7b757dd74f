"""Policies proposed from a table: roles, domains, cuts, codes and views, with reasons."""
