"""The commands, one module each, except for the two services ``serve`` and ``dashboard``.

``run``, ``env`` and ``ca`` set up an application. ``history``, ``ws``, ``show``, ``har``,
``doctor`` and ``status`` read a running proxy by its REST API, and print tables for people or JSON
for scripts. ``completion`` prints the script for a shell. Each has ``parser()`` and
``main(words)``. Those that read the proxy do not import Twisted, which would delay their start.
``report`` merges the reports of test runs, which ``show`` serves as pages.

* :mod:`trafficmock.command.rest` sends requests to the proxy;
* :mod:`~trafficmock.command.arguments` has the options that commands share,
  :mod:`~trafficmock.command.attach_options` those of ``run`` and ``env``;
* :mod:`trafficmock.command.output` writes recorded text, escaped for terminals;
* :mod:`trafficmock.command.sealing` seals the command of ``run``;
* :mod:`~trafficmock.command.exit_status` has the exit statuses.
"""
