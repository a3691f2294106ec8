"""Every kind of request that a browser makes, through the door of a test."""
