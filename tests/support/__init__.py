"""What test modules share.

``builders`` writes messages, ``playbook`` runs the core on them and compares the effects, under the
rules of :mod:`~tests.support.invariants`; ``tables`` finds what a coordinator holds.
:mod:`~tests.support.processes` starts the service, Node and others. ``raw_client`` (``/ws``) and
``http_client`` (REST, without a port) speak to the service; ``threaded_server`` is a server behind
it, ``failing_server`` one whose answers break, ``stream_reader`` a client that reads answers part
by part; ``certificates`` and ``self_signed`` make certificates. ``growth`` measures CPU time
against the size of the input, ``waiting`` waits for another process, ``decoded_bodies`` decodes
whole bodies, ``documents`` reads pages of the documentation, ``hypothesis_profiles`` says how many
examples a property tries, ``state_machines`` runs state machines and prints their steps.
"""
