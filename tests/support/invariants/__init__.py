"""What must never happen in the core; every playbook and the stateful test keep these.

:mod:`~tests.support.invariants.coordinator_invariants` sees each event with its effects, and asks
one module per subject: ``request_invariants``, ``websocket_invariants``, ``context_invariants``,
``subscription_invariants``, ``reply_invariants`` (fixed answers), ``chain_invariants`` (runs of
handlers), ``strict_invariants`` and ``wait_invariants``.
"""
