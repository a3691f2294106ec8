"""Doors: a door is a forward proxy on a port of its own, for the browser of one test.

The port identifies the test, so the browser needs no other setting than the proxy: the door adds
the test's context to requests for the application (``context_stamp``) and removes it from all
others. Requests through a door are neither announced to the coordinator nor recorded; TLS is
forwarded without decryption. ``doors`` opens and closes them.
"""
