"""Places where the name of a secret and its value stand side by side.

``named_values`` finds them in any text, as ``name=value``, and in the lists and objects beneath a
name; ``text_lines`` where lines matter: headers, YAML, events of a stream; ``markup_secrets`` in
the elements and attributes of XML and HTML. Names and forms of keys are not theirs: they stand in
``secret_names`` and ``key_forms`` of the package above.
"""
