"""Test files that pytest (``with_pytest``, ``with_errors``, ``with_mistakes``, ``in_parallel``,
``strictly``), unittest (``with_unittest``) and trial (``with_trial``) run.
``with_application`` starts applications, ``with_shared_application`` shares one between workers,
``with_children`` has applications that have started others,
``with_failing_application`` one that is never ready,
``with_proxy_options`` asks its proxy,
``with_ending_predicates`` has predicates that raise what is no ``Exception``,
``with_required`` has mocks that nobody meets. The applications of ``in_own_process``,
``in_own_process_django``, ``in_own_process_unittest`` and ``in_own_process_trial`` run in the
process of the tests; ``beside_other_mocks`` calls responses and respx there.
"""
