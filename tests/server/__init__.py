"""The doors: sockets, HTTP, limits and clocks, mostly without any of them."""
