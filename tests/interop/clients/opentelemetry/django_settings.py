"""The settings of the Django application."""

ALLOWED_HOSTS = ["*"]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "tests.interop.clients.opentelemetry.django_application"
SECRET_KEY = "of a test"
USE_TZ = True
