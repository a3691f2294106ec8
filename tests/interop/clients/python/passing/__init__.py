"""What a Python program sees of servers that it calls, attached and not: answers and errors.

``calls`` is the program, ``misbehaving_server`` has the servers, and ``test_passing`` compares the
outcomes. ``test_left_alone`` has clients whose TLS is to reach the server. The usual suite runs
some libraries, the deep one all.
"""
