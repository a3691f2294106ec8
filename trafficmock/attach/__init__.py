"""What the environment of an application must say so that its traffic comes through the proxy.

``environment`` puts it together: ``proxying`` says where the proxy is, ``trusting`` which
certificates to trust, ``java`` both in Java's words, ``asking`` asks the proxy itself and
``greeting`` whether it lets the application in.
"""
