"""The environment variables with which an application sends its traffic through the proxy.

``environment`` makes all of them: ``agent_variables`` has the URL, token and client id for agents,
``proxy_variables`` the URL for other HTTP clients, ``trust_variables`` the files of certificates,
``java`` and ``node`` the options of runtimes that do not read these variables. ``python_preload``
makes Python processes load the preload, which is in ``python``.
``rest_probe`` requests the health and the certificate of a proxy; ``hello_probe`` checks that the
proxy accepts the token; ``process_mark`` names a process for the service on the same machine.
"""
