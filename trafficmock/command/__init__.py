"""The commands: one module each, but for the two services ``serve`` and ``dashboard``.

``run``, ``env`` and ``ca`` set up an application; ``history``, ``ws``, ``show``, ``har`` and
``status`` read a running proxy over its REST API and print tables for people or JSON for scripts.
Those that read import no Twisted, so that a command answers at once:

* :mod:`trafficmock.command.rest` asks the proxy;
* :mod:`~trafficmock.command.arguments` are the options that the reading commands share,
  :mod:`~trafficmock.command.attach_options` those of ``run`` and ``env``;
* :mod:`trafficmock.command.output` puts recorded text on a terminal, never raw;
* :mod:`~trafficmock.command.exit_status` has the statuses with which a command ends;
* :mod:`trafficmock.command.supervision` runs the application of ``run``;
* each reading command, and ``completion``, has ``parser()`` and ``main(words)``.
"""
