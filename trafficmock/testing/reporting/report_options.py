"""Reads the options and ini values of a report from pytest.

Every run with the plugin calls this module at its start, even without mocks, so it imports nothing.
"""

from __future__ import annotations

import os

import pytest

_DIRECTORY = ("--trafficmock-report", "trafficmock_report")
_MODE = ("--trafficmock-report-mode", "trafficmock_report_mode")
_VARIABLE = "TRAFFICMOCK_REPORT"


def add_options(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    """Add the options and the ini values of a report."""
    where = "directory for a report of the run, with the traffic of its tests"
    group.addoption(_DIRECTORY[0], metavar="DIR", default=None, help=where)
    parser.addini(_DIRECTORY[1], where, default="")
    which = "the tests with traffic in the report: retain-on-failure, on or off"
    group.addoption(_MODE[0], metavar="MODE", default=None, help=which)
    parser.addini(_MODE[1], which, default="")


def begin(config: pytest.Config, began: int) -> None:
    """Begin the report of a run, if one is wanted.

    :param began: when the run began, in epoch milliseconds.
    :raises UsageError: a value is invalid, or the directory cannot be written.
    """
    given, ini = config.getoption(_DIRECTORY[0]), config.getini(_DIRECTORY[1])
    if not (given or ini or os.environ.get(_VARIABLE)):
        return
    import pytest  # noqa: PLC0415 - only where it is needed

    from trafficmock.errors import LocalError  # noqa: PLC0415
    from trafficmock.report.report_settings import report_settings  # noqa: PLC0415
    from trafficmock.testing.reporting import pytest_report, run_age  # noqa: PLC0415

    run_age.began(began)
    # A relative path of the ini file begins where that file is, others in the working directory.
    base = config.rootpath if ini and not given else config.invocation_params.dir
    mode = config.getoption(_MODE[0]) or config.getini(_MODE[1])
    try:
        settings = report_settings(os.environ, base, directory=given or ini or "", mode=mode)
        if settings is not None:
            pytest_report.register(config, settings)
    except LocalError as error:
        raise pytest.UsageError(str(error)) from None
