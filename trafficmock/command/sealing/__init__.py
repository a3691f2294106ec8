"""Runs a command in namespaces of Linux whose only ways out are the proxy and named hosts.

``namespaces`` makes this process enter a user, a network and a mount namespace, and names the
addresses there; ``relays`` are two processes, one on each side, that pass connections on;
``sealed`` puts both together before ``trafficmock run`` becomes its command.
"""
