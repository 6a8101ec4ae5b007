"""
What must be done once, however many workers there are: roll-ups, compaction, retention.
"""
