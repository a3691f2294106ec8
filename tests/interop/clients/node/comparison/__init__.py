"""A program's run held against one without the agent.

``compare`` finds the differences of two runs. ``normal`` takes out first what differs between any
two runs, such as ports and dates. ``differences`` lists what may differ, with the reason.
"""
