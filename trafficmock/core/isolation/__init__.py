"""What is said about requests that no context ties to a test, and contexts that nobody reported.

``lost_contexts`` writes where such a request lost the context, and what to do about it.
``wanted_origins`` asks agents for what these texts are made of only while tests with contexts run.
``mixed_contexts`` names requests that carry one test's context although only another one has a
route for them, ``unseen_connections`` connections whose requests nobody sees, and
``unhooked_libraries`` libraries that an agent cannot change. ``unseen_contexts`` lets a strict test
wait at its end until an attached application reports its context.
"""
