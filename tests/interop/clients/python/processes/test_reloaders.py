"""Servers that start themselves anew when a file changes."""

import os
import time

from tests.interop.clients.python.processes.attached_session import SessionCase, until

_FETCH = "urlopen('http://third.test/').read().decode()"
FLASK = f"""\
from urllib.request import urlopen
from flask import Flask
application = Flask(__name__)
@application.get("/page")
def page():
    return "VERSION " + {_FETCH}
"""
FASTAPI = f"""\
from urllib.request import urlopen
from fastapi import FastAPI
application = FastAPI()
@application.get("/page")
def page():
    return "VERSION " + {_FETCH}
"""
DJANGO = f"""\
import os, sys
from urllib.request import urlopen
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path
settings.configure(DEBUG=True, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="k")
def page(request):
    return HttpResponse("VERSION " + {_FETCH})
urlpatterns = [path("page", page)]
if __name__ == "__main__":
    execute_from_command_line(sys.argv)
"""


class ReloaderTests(SessionCase):
    """Each process that a reloader starts is attached, and none is left behind."""

    def check(self, file: str, source: str, *words: str) -> None:
        path = self.folder / file
        path.write_text(source.replace("VERSION", "one"))
        tests = [self.mocks(f"of {number}") for number in range(2)]
        session = self.start(*words)
        for version in ("one", "two"):
            if version == "two":
                path.write_text(source.replace("VERSION", version))
                os.utime(path, (time.time() + 2, time.time() + 2))
            until(lambda name=version: name in self.load(tests[0]), version, session)  # type: ignore[misc]
            for number, mocks in enumerate(tests):
                self.assertIn(f"{version} of {number}", self.load(mocks))
        self.assertEqual(session.end(), [], session.read("err"))
        self.assertNotIn("trafficmock", session.read("out") + session.read("err"))

    def test_flask(self) -> None:
        """``flask --debug run``."""
        port = ("--port", str(self.port))
        self.check("shop.py", FLASK, "-m", "flask", "--app", "shop", "--debug", "run", *port)

    def test_uvicorn(self) -> None:
        """``uvicorn --reload``."""
        port = ("--port", str(self.port), "--reload")
        self.check("shop.py", FASTAPI, "-m", "uvicorn", "shop:application", *port)

    def test_django(self) -> None:
        """``python manage.py runserver``."""
        self.check("manage.py", DJANGO, "manage.py", "runserver", str(self.port))
