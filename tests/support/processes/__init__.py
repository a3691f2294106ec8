"""Processes that tests start, and how they end.

``proxy_process`` starts the service as a process, ``watched_proxy`` one that lists what its
coordinator holds, ``tested_proxy`` the service or the npm proxy. ``node_parts`` finds Node and the
npm packages, ``npm_packages`` brings those of a folder; ``node_app`` starts upstream, proxy and a
Node application together. ``child_process`` starts any process that says where it listens,
``process_group`` one that ends with its children; ``process_usage`` reads its CPU and memory.
``interrupts`` starts a command that takes Ctrl-C. ``trial_workers`` makes a thing once for all
workers of trial.
"""
