"""
Malformed and hostile requests to the forward proxy, with the answer that each must get.

The cases are data, in :mod:`tests.abuse.cases`, written from the rules of RFC 9112 and
RFC 9110. ``python -m tests.abuse`` prints them as a table.
"""
