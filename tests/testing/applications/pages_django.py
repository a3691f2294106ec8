"""Run as a child: a Django application whose pages say what three third parties said.

The address is printed as one JSON line.
"""

import json
import sys

import django
import requests
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from werkzeug.serving import make_server

HOST = "http://third.test"


def page(request: HttpRequest) -> HttpResponse:
    urls = [f"{HOST}/{name}" for name in ("price", "stock", "reviews")]
    return HttpResponse(" ".join(requests.get(url, timeout=60).text for url in urls))


urlpatterns = [path("page", page)]

if __name__ == "__main__":
    settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="of a test")
    django.setup()
    server = make_server("127.0.0.1", 0, get_wsgi_application(), threaded=True)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}) + "\n")
    sys.stdout.flush()
    server.serve_forever()
