"""Attacks on strict mode by processes that end, stop and lose each other.

``lab`` starts what is attacked: the service, an ``application`` of Python and one of Node, and a
``worker``.
"""
