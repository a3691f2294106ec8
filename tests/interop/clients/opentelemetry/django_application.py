"""A Django application with one page."""

import os

from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from tests.interop.clients.opentelemetry.serving import both, serve_wsgi


def page(_: HttpRequest) -> HttpResponse:
    return HttpResponse(both())


urlpatterns = [path("page", page)]

if __name__ == "__main__":
    serve_wsgi(get_wsgi_application())
elif os.environ.get("PAGE_URLS"):
    # A server imports the application by its name.
    application = get_asgi_application() if os.environ.get("ASGI") else get_wsgi_application()
