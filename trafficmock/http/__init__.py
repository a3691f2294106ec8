"""HTTP code that REST, ``/ws`` upgrades, the forward proxy and the dashboard share.

* ``checked_root`` is the root resource of a site: it checks each request and turns errors into
  responses; ``access`` and ``cors`` have the rules for ``Host``, ``Origin`` and peer addresses, and
  ``hosts`` parses these; ``this_service`` distinguishes what is for the service itself from
  requests to other servers;
* ``http_limits`` names the limits of one client and counts connections;
* ``service_request`` is a request to the service; ``responses``, ``etags`` and ``sliced_response``
  write the response: JSON, one form of errors, entity tags, long lists in slices;
* ``backpressure`` pauses a sender while its receiver lags; ``log_safety`` makes text from clients
  safe for one log line; ``exact_url`` keeps URLs for treq as they are written; ``bounded_cache``
  caches results by texts of clients.

``server`` and ``proxy`` import this package; it imports neither.
"""
