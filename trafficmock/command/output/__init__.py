"""The output of commands: tables, single entries and bodies, escaped for terminals.

``list_columns`` has the columns of a list, ``table`` sets their widths. ``request_page`` and
``websocket_page`` write one entry, ``body_text`` its bodies. ``terminal`` has the width and the
colours of the output; ``terminal_text`` measures and cuts text.
"""
