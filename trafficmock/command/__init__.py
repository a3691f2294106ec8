"""The commands that read a running proxy: ``history``, ``show``, ``har``, ``ws``, ``status``.

They ask the REST API and print tables for people or JSON for scripts. Nothing here imports
Twisted, so that a command answers at once:

* :mod:`~trafficmock.command.rest_client` asks the proxy;
* :mod:`~trafficmock.command.arguments` are the options that commands share;
* :mod:`~trafficmock.command.output.terminal_text`, :mod:`~trafficmock.command.output.terminal` and
  :mod:`~trafficmock.command.output.table` put recorded text on a terminal, never raw;
* the modules named like commands each have ``parser()`` and ``main(words)``.
"""
