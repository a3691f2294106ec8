"""The coordinator's WebSocket ``/ws`` (Autobahn).

``upgrade`` makes a connection of an upgraded request. ``fast_protocol`` reads and writes whole
data frames (``data_frames``, ``masking``) by itself and leaves everything else to Autobahn;
``autobahn_protocol`` is the path for library versions that ``fast_protocol`` was not tested with.
``link`` is what the driver sees of a connection, ``send_queue`` holds what is still to be sent,
``write_coalescing`` joins the writes of one reactor turn, ``oversized_frames`` reads past messages
above the limit.
"""
