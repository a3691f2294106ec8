"""What crosses the coordinator WebSocket: protocol 3, one module for each kind of object.

``inbound`` has the messages that clients send, ``client_message`` all of them as one type;
``outbound`` has those that the coordinator sends. ``codec`` decodes and encodes them.
``agent_filter`` and ``local_reports`` have those about requests that agents let pass by themselves.
``payloads`` has what messages carry: requests, responses and matchers. ``client_id`` says what the
name of a client may be. ``shrink`` makes a
message smaller that is larger than ``limits`` allow; ``features`` has the additions to
protocol 3. A message that is not valid is an ``invalid_message``; ``message_heads`` reads the
ids of one that is too large. ``http_syntax`` and ``reason_phrases`` have the
rules of HTTP that messages share.

Optional keys are ``UNSET`` when absent, never ``None``: protocol 3 forbids
``null`` for an optional key. Bodies stay the raw JSON text they arrived as (a
quoted base64 string or ``null``), because most of them are only passed on.
"""

PROTOCOL_VERSION = 3

#: What the npm clients 0.1.8 call themselves; a mismatch with it is no news.
NPM_PACKAGE_VERSION = "0.1.0"
