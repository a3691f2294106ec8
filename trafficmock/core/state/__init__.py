"""What the coordinator knows. Rules are beside this package and get the state; it does not decide.

``peers`` has the connections: agents with what they wait for, workers with their tests.
``lifecycle`` has paused requests and WebSockets, with their stages.
"""
