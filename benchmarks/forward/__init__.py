"""
Benchmarks of the forward proxy against mitmproxy.

An :mod:`~benchmarks.forward.upstream` server answers in a process of its own, which
:mod:`~benchmarks.forward.server` starts. *Clients* (:mod:`benchmarks.forward.clients`)
send requests through the proxy; a *session* (:mod:`benchmarks.forward.session`) is all
clients of one load (:mod:`benchmarks.forward.loads`). :mod:`benchmarks.forward.targets`
starts both proxies. Mocked requests are answered by ``addons`` in mitmproxy, and by the
test worker of ``mocker`` in ours. :mod:`benchmarks.forward.command` is the subcommand.
"""
