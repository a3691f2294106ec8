"""HTTP/1.1 messages (RFC 9112), read strictly and written: no sockets, no Twisted.

``request_reader`` reads the requests in what a client sends: ``request_heads`` takes a head off the
stream, ``heads`` parses start lines and fields, ``framing`` says how long a body is, and
``body_readers`` cut it out of the stream.
``forwarded_headers`` drops hop-by-hop fields, ``context_headers`` reads the context of a test and
takes it out, ``attached_clients`` has the headers between the proxy and attached Python processes.
``content_codings`` decodes gzip and deflate for people and tests. Other packages
drop header lines, too; :mod:`trafficmock.proxy` lists them.
"""
