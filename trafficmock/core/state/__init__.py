"""What the coordinator knows. Rules are beside this package and get the state; it does not decide.

``peers`` has the connections: agents with what they wait for, workers with their tests.
``registered`` has these tests with their routes, ``har_recording`` what a route has recorded.
``lifecycle`` has paused requests and WebSockets, and what is kept about them: the test of a
context, claims, chains, deferred observations and awaited reports. ``stages`` has the tables of
their stages.
"""
