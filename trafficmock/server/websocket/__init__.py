"""The coordinator's WebSocket ``/ws`` (Autobahn).

``upgrade`` is the resource of ``/ws``. ``fast_protocol`` reads whole data frames by itself
(``data_frames``, ``masking``) and leaves all others to Autobahn; ``autobahn_protocol`` is its base
class, and is used alone with library versions that ``fast_protocol`` was not tested with. A *link*
(``link``) is an open connection, as the driver uses it. ``send_queue`` holds frames until the
kernel takes them, ``write_coalescing`` joins the writes of one reactor turn, and
``oversized_frames`` skips messages above the limit.
"""
