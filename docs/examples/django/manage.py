"""A shop that asks a price service over https. It knows nothing of mocks."""

import sys

import requests
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.management import execute_from_command_line
from django.http import HttpRequest, JsonResponse
from django.urls import path

settings.configure(DEBUG=True, SECRET_KEY="k", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])


def price(_: HttpRequest, item: str) -> JsonResponse:
    try:
        answer = requests.get("https://prices.example/v1", params={"item": item}, timeout=10)
        answer.raise_for_status()
    except requests.RequestException:
        return JsonResponse({"error": "no prices today"}, status=503)
    return JsonResponse({"item": item, "price": answer.json()["price"]})


urlpatterns = [path("price/<item>", price)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
else:
    application = get_asgi_application()
