"""Programs of several languages, attached by the environment that they are started with."""
