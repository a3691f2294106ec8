"""What is said about requests that no context ties to a test, and contexts that nobody reported.

``lost_contexts`` writes where such a request lost the context, and what to do about it.
``wanted_origins`` asks agents for what these texts are made of only while tests with contexts run.
``unseen_contexts`` lets a strict test wait at its end until an attached application reports its
context.
"""
