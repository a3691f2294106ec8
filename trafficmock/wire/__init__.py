"""What crosses the coordinator WebSocket: protocol 3, one module for each kind of object.

``request`` and ``response`` hold the objects that messages carry, ``inbound``
what clients send, ``outbound`` what the coordinator sends, and ``codec`` turns
bytes into the former and the latter into bytes.

Optional keys are ``UNSET`` when absent, never ``None``: protocol 3 forbids
``null`` for an optional key. Bodies stay the raw JSON text they arrived as (a
quoted base64 string or ``null``), because most of them are only passed on.
"""

PROTOCOL_VERSION = 3

#: What the npm clients 0.1.8 call themselves; a mismatch with it is no news.
NPM_PACKAGE_VERSION = "0.1.0"
