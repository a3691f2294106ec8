"""Who decides: playbooks, the fault matrix, and every order of events."""
