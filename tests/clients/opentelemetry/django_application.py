"""A Django application with one page."""

from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from tests.clients.opentelemetry.serving import both, serve_wsgi


def page(_: HttpRequest) -> HttpResponse:
    return HttpResponse(both())


urlpatterns = [path("page", page)]

if __name__ == "__main__":
    serve_wsgi(get_wsgi_application())
