"""Runs Hypothesis's state machines under trial."""

import traceback

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run_machine(machine: type[RuleBasedStateMachine], how: settings) -> None:
    """Run a state machine.

    :raises AssertionError: it failed. The text has the steps, which Hypothesis adds to its errors
        as notes, and trial does not print.
    """
    try:
        run_state_machine_as_test(machine, settings=how)
    except Exception as error:
        raise AssertionError("".join(traceback.format_exception(error))) from error
