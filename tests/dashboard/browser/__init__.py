"""The pages of the dashboard in Chromium.

``request_list`` tests the list of requests, the modules here the detail and all other pages.
``pictures`` makes the pictures of the documentation, ``scrolling`` measures a long list.
"""
