"""Browser proxies: a browser proxy is a forward proxy on a port of its own, for one test's browser.

The port identifies the test, so the browser needs no other setting than the proxy: this adds the
test's context to requests for the application (``context_stamp``) and removes it from all others.
Requests through a browser proxy are neither announced to the coordinator nor recorded; TLS is
forwarded without decryption. ``browser_proxies`` opens and closes them.
"""
