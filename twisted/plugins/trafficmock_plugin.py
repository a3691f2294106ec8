"""The twistd plugins. They name their modules as text, so that listing them imports nothing."""

from twisted.application.service import ServiceMaker

trafficmock = ServiceMaker(
    "trafficmock",
    "trafficmock.tap",
    "The proxy between an application's server and the tests that mock its traffic.",
    "trafficmock",
)

trafficmock_dashboard = ServiceMaker(
    "trafficmock dashboard",
    "trafficmock.dashboard.service_maker",
    "Pages that show what the trafficmock proxy records.",
    "trafficmock-dashboard",
)
