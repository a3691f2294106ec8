"""How tests end under pytest, unittest and trial: ``samples``, and the documentation's examples."""
