"""The modules of the preload, one by one."""
