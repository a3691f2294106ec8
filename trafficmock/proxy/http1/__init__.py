"""HTTP/1.1 messages (RFC 9112): a strict parser and a writer, without sockets or Twisted.

``request_reader`` reads requests from the bytes of a client: it finds the end of a head, ``heads``
parses start line and fields, ``framing`` determines the length of the body, and ``body_readers``
extract the body from the stream.
``forwarded_headers`` drops hop-by-hop fields and writes heads. ``context_headers`` reads, removes
and adds the context of a test. ``attached_clients`` has the headers between the proxy and attached
Python processes, of which ``server_demands`` says how servers are to be verified.
``content_codings`` decodes gzip and deflate for tests and the history. Other packages drop header
lines, too; :mod:`trafficmock.proxy` lists them.
"""
