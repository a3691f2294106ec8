"""What commands write: tables, single entries and bodies, safe for a terminal.

``list_columns`` says what a list shows, ``table`` lays it out, ``request_page`` and
``websocket_page`` show one entry, ``body_text`` its bodies; ``terminal`` knows width and colours,
``terminal_text`` escapes and cuts recorded text.
"""
