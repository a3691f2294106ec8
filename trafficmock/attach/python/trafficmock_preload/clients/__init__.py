"""Clients of HTTP, one module for each family: how their connections become tunnels.

Each ``change_…`` function takes a module of a library that was just imported. It is called once.
"""
