"""The messages of OTLP, as bytes.

``span_message`` and ``metric_message`` write them, both with ``protobuf``, which also reads fields.
"""
