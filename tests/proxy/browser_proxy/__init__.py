"""The proxies of the browsers of tests."""
