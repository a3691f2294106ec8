"""What a mock may be, and the ways in which it breaks.

``response_rules`` corrects mocks (status, headers, size), ``mock_codings`` their coding.
``mock_faults`` has the ways in which a mock breaks, ``body_pacing`` the pieces of one that comes
slowly.
"""
