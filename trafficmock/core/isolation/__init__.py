"""What is said about requests that no context ties to a test.

``lost_contexts`` writes where such a request lost the context, and what to do about it.
"""
