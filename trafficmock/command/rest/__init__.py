"""Asks a running proxy over its REST API.

``rest_client`` sends the requests, ``list_resources`` describes the two lists, ``id_lookup``
finds the entry that an id means, ``follow`` polls a list and prints what is new.
"""
