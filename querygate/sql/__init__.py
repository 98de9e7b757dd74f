"""Text to Plan. It knows the catalog, never the data.

parse       text to a tree
allow       only what can be bounded passes
restatement the database reads the text as the tree does
compose     queries inside queries become one
plan        keys, measures, outputs
linked      of a dataset that is published as views, margins that tell of each aggregate
"""

from querygate.sql.suggestions.statement_places import Filling, Place, StatementPlaces
from querygate.sql.understand import ANOTHER, accepted_plan, understand, without_zero_divisors

__all__ = ["ANOTHER", "Filling", "Place", "StatementPlaces", "accepted_plan", "understand", "without_zero_divisors"]
