"""
What clients send in one go, with the answer that each must get.

A ``case`` is data; ``case_runner`` runs it with a server behind the proxy, the ``upstream``, and
compares what both got, by readers of its own (``reading``). ``cases`` lists them, most by rules of
RFC 9112, RFC 9110 and RFC 6455; ``python -m tests.hostile.exchanges`` prints them as a table.
``boundary`` sends the same bytes in any pieces to the proxy in memory.
"""
