"""The client side of the forward proxy.

``protocol_sniffing`` chooses the protocol of a connection by its first bytes.
``client_connection`` reads requests and answers them in order, by the state table in
``connection_state``. ``idle_timer`` and ``half_close`` end the connection when the client is silent
or gone. ``router`` sends each request to a server, into a tunnel or to the service itself;
``waiting_connect`` waits with the answer to CONNECT, ``connect_sniffing`` detects the protocol
behind it, with ``client_hello`` for TLS, and ``client_tls`` has the certificate for TLS there.
``roots_upload`` takes the roots by which an attached process has a server verified.
``proxy_credentials`` reads client id and token. ``forward_proxy`` builds all this.
"""
