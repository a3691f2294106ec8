"""A Flask application with one page."""

from flask import Flask

from tests.interop.clients.opentelemetry.serving import both, serve_wsgi

application = Flask(__name__)
application.add_url_rule("/page", view_func=both)

if __name__ == "__main__":
    serve_wsgi(application)
