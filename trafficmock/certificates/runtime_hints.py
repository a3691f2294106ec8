"""The settings by which each runtime uses the forward proxy and trusts its authority."""

from __future__ import annotations

from trafficmock.certificates.trust_bundle import TRUSTSTORE_PASSWORD, TrustBundle

_HINTS = (
    (
        "everything below, set at once",
        """
trafficmock run --client-id NAME -- COMMAND     starts COMMAND with all of it
eval "$(trafficmock env --client-id NAME)"      sets it in this shell
""",
    ),
    (
        "the proxy, for all that read these variables",
        """
HTTP_PROXY={proxy}  HTTPS_PROXY={proxy}     and the same in lower case
with a name: http://NAME:-@127.0.0.1:4310     with --token: http://NAME:TOKEN@127.0.0.1:4310
""",
    ),
    ("curl", "CURL_CA_BUNDLE={bundle}     or: curl --proxy {proxy} --cacert {ca} URL"),
    ("Python ssl, urllib, httpx, aiohttp (trust_env=True)", "SSL_CERT_FILE={bundle}"),
    ("Python requests, pip, boto3", "REQUESTS_CA_BUNDLE=, PIP_CERT=, AWS_CA_BUNDLE={bundle}"),
    (
        "Node",
        """
trafficmock run -- node app.js     the agent: no proxy and no certificate needed
without it, from Node 24 on: NODE_USE_ENV_PROXY=1 NODE_EXTRA_CA_CERTS={ca}
""",
    ),
    (
        "Go",
        """
SSL_CERT_FILE={bundle}
Go never sends localhost and 127.0.0.1 through a proxy: name the machine otherwise.
""",
    ),
    (
        "Ruby",
        """
SSL_CERT_FILE={bundle}
Net::HTTP never sends loopback addresses through a proxy: name the machine otherwise.
""",
    ),
    (
        "Java",
        """
JAVA_TOOL_OPTIONS="-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=4310
  -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=4310 -Dhttp.nonProxyHosts=
  -Djavax.net.ssl.trustStore={truststore} -Djavax.net.ssl.trustStoreType=PKCS12
  -Djavax.net.ssl.trustStorePassword={password}"     on one line
These options cannot carry a name or a token: the application is known as `proxy`.
""",
    ),
    ("git", "GIT_SSL_CAINFO={bundle}     or: git config http.sslCAInfo {bundle}"),
    (
        "PHP",
        """
PHP_INI_SCAN_DIR=:{php}     sets openssl.cafile and curl.cainfo
curl and Guzzle read the proxy variables; PHP's own streams want a context with `proxy`.
""",
    ),
    (".NET (HttpClient, on Linux)", "SSL_CERT_FILE={bundle}"),
    (
        "browsers",
        """
They have stores of their own. A test profile is better told of the proxy and of the
certificate ({ca}) than your daily one; remove the certificate when you are done.
""",
    ),
)


def hints(trust: TrustBundle, proxy_url: str) -> str:
    """Return the text of ``trafficmock ca hints``: the settings of each runtime, with real paths.

    :param trust: the files of certificates.
    :param proxy_url: the URL of the forward proxy.
    """
    values = {
        "proxy": proxy_url,
        "ca": trust.ca,
        "bundle": trust.bundle,
        "truststore": trust.truststore,
        "php": trust.php,
        "password": TRUSTSTORE_PASSWORD,
    }
    lines = [
        "The bundle has this machine's certificates and ours, since a runtime that is told of a",
        "file forgets its own.",
    ]
    for title, text in _HINTS:
        lines += ["", f"{title}:"]
        lines += (f"  {line}" for line in text.strip().format_map(values).splitlines())
    return "\n".join(lines) + "\n"
