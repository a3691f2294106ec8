"""The environment variables with which an application sends its traffic through the proxy.

``environment`` puts them together: ``agent_variables`` tell an agent where the proxy is,
``proxy_variables`` and ``trust_variables`` tell every other HTTP client where the proxy is and
which certificates to trust, ``java`` and ``node`` do so for runtimes that read neither, and
``python_preload`` for Python, whose libraries differ. ``python`` holds the preload itself.
``rest_probe`` asks the proxy for its health and certificate, ``hello_probe`` whether it accepts
the token.
"""
