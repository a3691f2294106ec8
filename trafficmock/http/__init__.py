"""What every HTTP door of the service shares: REST, ``/ws`` upgrades, forward proxy, dashboard.

* ``access`` and ``cors`` decide who may come in: ``Host``, ``Origin`` and peer addresses, which
  ``hosts`` reads strictly; ``own_target`` tells the service's own address from others;
* ``http_limits`` names what one client may ask for;
* ``service_request`` is a request to the service, ``responses``, ``etags`` and ``sliced_response``
  are how it is answered: JSON, one error shape, entity tags, large lists in slices;
* ``backpressure`` pauses a sender while its receiver lags; ``log_safety`` makes text from clients
  safe for one log line.

``server`` and ``proxy`` stand on this package; it imports neither.
"""
