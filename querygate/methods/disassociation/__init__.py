"""Disassociation: codes stay as they are, and what is hidden is which of them were together in a record.

Terrovitis, Mamoulis, Liagouris, Skiadopoulos, "Privacy preservation by disassociation", PVLDB 5(10), 2012. Pure: sets
of codes in, clusters out.
"""

from querygate.methods.disassociation.chunk_check import Faults, find_faults
from querygate.methods.disassociation.chunks import Chunk, Cluster, Disassociated, JointCluster
from querygate.methods.disassociation.disassociate import disassociate

__all__ = [
    "Chunk",
    "Cluster",
    "Disassociated",
    "Faults",
    "JointCluster",
    "disassociate",
    "find_faults",
]
