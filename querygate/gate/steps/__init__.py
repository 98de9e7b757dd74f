"""The steps of a query, one file for each, in the order of `gate/answer.py`. Each returns a state that knows more."""
