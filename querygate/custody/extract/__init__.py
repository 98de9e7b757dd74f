"""Extracts: records that leave, on approval, in a form that keeps its promise wherever they go.

subject       which records and columns, under which policy
k_anonymous   classes of k records that look alike; sensitive values as they are
condensed     synthetic records that keep the recipient's models
tuning        which method and which parameters do best at what the recipient will do
verifying     what was made, measured anew
figures       risk and utility, for those who decide
files         what the recipient gets
build         all of it, from top to bottom
"""

from querygate.custody.extract.builder import Builder
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.protected_records import ProtectedRecords

__all__ = ["Builder", "ProtectedRecords", "RecordReader"]
