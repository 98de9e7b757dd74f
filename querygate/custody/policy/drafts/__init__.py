"""Drafts of policies, made from a table: roles, domains, cuts, codes and views, proposed with reasons."""
