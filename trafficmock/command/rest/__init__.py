"""Reads a running proxy by its REST API.

``rest_client`` sends the requests. ``list_resources`` describes the two lists, ``id_lookup`` finds
the entry with an id or the beginning of one, ``follow`` polls a list and prints changes.
"""
