"""Real receivers and applications, with packages from the registries; they are slow."""
