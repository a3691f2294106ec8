"""The client's side of the forward proxy.

``protocol_sniffing`` looks at the first bytes of a connection and chooses its protocol.
``client_connection`` reads requests and answers them in order, as the table in
``connection_state`` allows; ``connection_readers`` says who takes what it reads; ``idle_timer`` and
``half_close`` end it when the client is silent or gone. ``router`` sends each request to a server,
into a tunnel or back to the service itself; ``connect_sniffing`` finds out what is spoken behind
CONNECT, ``client_tls`` presents the certificate there. ``proxy_credentials`` reads client id and
token; ``forward_proxy`` puts it together.
"""
