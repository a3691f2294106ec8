"""Sessions without a proxy, and the parts of them that only compute; ``arguments`` are apart."""
