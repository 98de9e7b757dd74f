"""One risk report: raw records, Safe Harbor as the yardstick, and what is released, measured alike.

For a review board as a page, and for programs as JSON beside it; see docs/how-to/assess-risk.md.

sides       raw records, and the same under Safe Harbor
released    a table that was released, as a side
published   a version that is served, as a side
report      the figures of all three, as one JSON object
files       the object as files: JSON, a page, pictures
"""
