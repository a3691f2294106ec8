"""The JSON messages of the coordinator WebSocket (``/ws``): protocol 3.

Clients are **agents**, which are inside applications and hold their requests, and **workers**,
the processes that run tests. The protocol is described in ``docs/protocol``.

``inbound`` has the messages that clients send, ``client_message`` the union of them;
``outbound`` has the messages that the coordinator sends. ``codec`` decodes and encodes messages.
``agent_filter`` and ``local_reports`` have the messages about requests that agents let pass
without asking, ``waits`` those about the waits of tests. ``payloads`` has the parts of messages:
requests, responses and matchers;
``changed_request`` is the request that a handler's changes make.
``client_id`` has the rule for client ids. ``shrink`` makes a smaller message of one that exceeds
the size in ``limits``; ``features`` names the additions to protocol 3. ``invalid_message`` is the
error for a message that is not valid, or too large. ``http_syntax`` and ``reason_phrases`` have
rules of HTTP.

An absent optional key is ``UNSET``, never ``None``: protocol 3 forbids
``null`` for an optional key. Bodies stay the raw JSON text of the message (a
quoted base64 string or ``null``), because most of them are only passed on. The
forward proxy's are bytes, which become base64 only in messages that are encoded.
"""

PROTOCOL_VERSION = 3

#: The package version that the npm clients 0.1.8 send in ``hello``; it is not logged as a mismatch.
NPM_PACKAGE_VERSION = "0.1.0"
