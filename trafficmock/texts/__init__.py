"""Texts, and what is known of them without a redactor: what decides needs it, and does not redact.

``wording`` has texts whose parts say what they quote of a URL or a value, for a redactor at the
edge. ``message_text`` escapes texts from outside for messages of one line, and takes the
credentials out of a proxy's URL. ``marked_texts`` compares recorded texts that have marks for their
secrets, ``named_fields`` reads the fields that users name, such as ``header:x-customer``, and
``byte_patterns`` finds patterns in texts.
``times`` writes times of day, and ``unknown_words`` suggests what a misspelt word may mean.
"""
