"""Every kind of request that a browser makes, through the browser proxy of a test."""
