"""What is said about requests that no context ties to a test, and contexts that nobody reported.

``lost_contexts`` writes where such a request lost the context, and what to do about it.
``unseen_contexts`` lets a strict test wait at its end until an attached application reports its
context.
"""
