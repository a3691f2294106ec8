"""What REST, ``/ws`` upgrades, the forward proxy and the dashboard share of HTTP.

* ``checked_root`` is the root resource of a site: it checks each request and turns errors into
  answers; ``access`` and ``cors`` hold the rules for ``Host``, ``Origin`` and peer addresses, which
  ``hosts`` reads strictly; ``service_target`` tells the service's own address from others;
* ``http_limits`` names the limits of one client and counts connections;
* ``service_request`` is a request to the service, ``responses``, ``etags`` and ``sliced_response``
  are how it is answered: JSON, one error shape, entity tags, large lists in slices;
* ``backpressure`` pauses a sender while its receiver lags; ``log_safety`` makes text from clients
  safe for one log line; ``exact_url`` keeps URLs for treq as they are written; ``bounded_cache``
  remembers results by texts of clients.

``server`` and ``proxy`` stand on this package; it imports neither.
"""
