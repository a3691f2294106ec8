"""Doors: for each test that wants one, a forward proxy on a port of its own.

A browser that uses it needs nothing else to be told from the browsers of other tests: the door
puts the test's context on requests for the application (``context_stamp``) and takes it out of all
others. Nothing is announced to the coordinator or recorded (``silent_gateway``); TLS is carried
unread. ``doors`` opens and closes them.
"""
