"""An HTTP request, from its announcement by an agent to the report about its response.

``request_routing`` handles the announcement (``request:start``) and finds the owner;
``observation`` sends the request to the observers. ``pending_bodies`` handles bodies that come
after the announcement, ``missing_bodies`` what happens without one; ``deferred_bodies`` sends the
request to the observers then. ``chains`` runs the handlers of the owner in their order;
``handler_results`` handles the result of each,
``request_changes`` adds up their changes, and ``upstream_fetches`` has the agent fetch the real
answer. ``nearest_entry`` says why a HAR has no answer; ``recorded_answers`` answers by the real
server, and records that. ``decisions`` settles the request. A request that was sent upstream is in
``awaited_reports`` until ``response_reports`` gets its response or error; ``redirect_hops`` handles
the requests of followed redirects.
"""
