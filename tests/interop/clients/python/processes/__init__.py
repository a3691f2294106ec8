"""Processes that attached ones start or become: reloaders, pools, daemons; and how they end."""
