"""The HAR of a route, from which its requests are answered.

``har_lookup`` finds the recorded response to a request, ``match_rules`` has the parts that are
compared, ``har_parts`` reads the entries.
"""
