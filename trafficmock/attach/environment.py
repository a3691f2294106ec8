"""Makes the whole environment of an attached application."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from trafficmock.attach.agent_variables import (
    CLIENT_ID_VARIABLE,
    DEFAULT_PROXY_URL,
    IGNORE_VARIABLE,
    agent_variables,
    proxy_token,
    proxy_url,
)
from trafficmock.attach.java import with_java_options
from trafficmock.attach.node import node_variables
from trafficmock.attach.proxy_variables import (
    ProxyAddress,
    direct_hosts,
    proxy_variables,
    unapplied_hosts,
)
from trafficmock.attach.python_preload import (
    AUTHORITY_VARIABLE,
    fingerprint,
    https_problem,
    python_variables,
)
from trafficmock.attach.rest_probe import (
    AttachError,
    NoAnswerError,
    certificate_authority,
    is_strict,
)
from trafficmock.attach.trust_variables import trust_variables
from trafficmock.certificates.authority import open_authority
from trafficmock.certificates.files import default_directory
from trafficmock.certificates.trust_bundle import TrustBundle, make_trust
from trafficmock.http.hosts import is_loopback
from trafficmock.texts.message_text import without_credentials
from trafficmock.wire.client_id import client_id_problem

__all__ = ["AttachError", "Attachment", "forward_variables"]


@frozen(kw_only=True)
class Attachment:
    """The environment variables of one application.

    ``trafficmock run``, ``trafficmock env`` and the test library all use this class, so that
    they attach an application in the same way.

    :param address: the URL of the proxy, with the application's client id and token.
    :param base: the environment of the application without the attachment.
    :param ca_directory: the directory of the certificate authority on this machine.
    :param preload: the agent's ``register.js``; ``None`` for no Node agent.
    :param no_proxy: hosts to reach directly, instead of those in ``NO_PROXY``.
    :param forward_proxy: whether to set the proxy variables and those of certificates. Python
        processes are attached without them, too.
    """

    address: ProxyAddress
    base: Mapping[str, str] = field(repr=False)
    ca_directory: Path
    preload: Path | None = None
    no_proxy: str | None = None
    forward_proxy: bool = True

    @classmethod
    def of(
        cls,
        base: Mapping[str, str],
        *,
        url: str | None = None,
        token: str | None = None,
        client_id: str | None = None,
        ca_directory: str | None = None,
        preload: Path | None = None,
        no_proxy: str | None = None,
        forward_proxy: bool = True,
    ) -> Attachment:
        """Make an attachment; arguments that are not given are read from ``base``.

        :param url: the base URL of the proxy.
        :param ca_directory: by default the user's data directory.
        :raises AttachError: if the URL or the client id cannot be used.
        """
        url = url or proxy_url(base) or DEFAULT_PROXY_URL
        client_id = client_id or base.get(CLIENT_ID_VARIABLE)
        try:
            address = ProxyAddress.parse(url, client_id, token or proxy_token(base))
        except ValueError:
            shown = without_credentials(url)
            raise AttachError(
                f"the proxy's URL must look like {DEFAULT_PROXY_URL}, not {shown!r}"
            ) from None
        problem = client_id_problem(address.client_id or "")
        if problem is not None:
            raise AttachError(f"the client id {problem}")
        if ":" in (address.client_id or ""):
            raise AttachError(
                f"the client id {address.client_id!r} must not contain a colon: the credentials "
                "of a proxy cannot carry it"
            )
        return cls(
            address=address,
            base=base,
            ca_directory=Path(ca_directory).absolute() if ca_directory else default_directory(base),
            preload=preload,
            no_proxy=no_proxy,
            forward_proxy=forward_proxy,
        )

    def direct_note(self) -> str | None:
        """Return what to say of hosts beside the proxy; ``None`` for nothing.

        :raises AttachError: if the proxy answers with an error.
        """
        left_out = unapplied_hosts(self.base) if self.no_proxy is None else []
        unseen = [
            word for word in (self.no_proxy or "", self.base.get(IGNORE_VARIABLE, "")) if word
        ]
        if not self.forward_proxy or not (left_out or unseen):
            return None
        notes = []
        if left_out:
            hosts = ", ".join(left_out)
            notes.append(f"these hosts of NO_PROXY are reached through the proxy: {hosts}")
        if unseen and is_strict(self.address.base_url):
            notes.append(f"strict mode does not see all requests to {', '.join(unseen)}")
        return "; ".join(notes) or None

    def environment(self) -> dict[str, str]:
        """Return ``base`` with the variables of the attachment.

        :raises AttachError: if the proxy does not send its certificate.
        :raises CertificateError: if files of certificates cannot be read or written here.
        """
        return {**self.base, **self.variables()}

    def variables(self) -> dict[str, str]:
        """Return the variables of the attachment alone.

        Options of ``base`` in the same variables, such as ``NODE_OPTIONS``, are kept.

        :raises AttachError: if the proxy does not send its certificate.
        :raises CertificateError: if files of certificates cannot be read or written here.
        """
        variables = agent_variables(self.address, npm_agent=self.preload is None)
        if self.preload is not None or self.forward_proxy:
            variables |= node_variables(self.preload, self.base)
        if self.forward_proxy:
            variables |= forward_variables(
                self.address, self.base, self.ca_directory, self.no_proxy
            )
        elif https_problem(self.address.scheme, self.base) is None:
            variables |= python_variables(self.base)
        return variables


def forward_variables(
    address: ProxyAddress,
    present: Mapping[str, str],
    ca_directory: Path,
    no_proxy: str | None = None,
) -> dict[str, str]:
    """Make the variables that send an application's traffic through the forward proxy.

    The certificate to trust is requested from the proxy. If the proxy's address is a loopback one
    and nothing answers there, it is the certificate of the authority on this machine.

    :param present: the environment without the attachment; its options are kept.
    :param ca_directory: the directory of the certificate authority on this machine.
    :param no_proxy: hosts to reach directly, instead of those of :func:`.direct_hosts`.
    :returns: an empty dict, if the proxy is not a forward proxy.
    :raises AttachError: if the proxy does not send its certificate.
    :raises CertificateError: if files of certificates cannot be read or written here.
    """
    trust = _trust(address, present, ca_directory)
    if trust is None:
        return {}
    direct = direct_hosts(address, present, no_proxy)
    java = with_java_options(present.get("JAVA_TOOL_OPTIONS", ""), address, trust, direct)
    return {
        **proxy_variables(address, direct),
        AUTHORITY_VARIABLE: fingerprint(trust.ca.read_bytes()),
        **trust_variables(trust, present),
        **python_variables(present),
        "JAVA_TOOL_OPTIONS": java,
    }


def _trust(
    address: ProxyAddress, present: Mapping[str, str], directory: Path
) -> TrustBundle | None:
    try:
        pem = certificate_authority(f"{address.scheme}://{address.authority}")
    except NoAnswerError:
        if not is_loopback(address.host):
            raise
        pem = open_authority(directory, dt.datetime.now(dt.UTC)).pem
    return None if pem is None else make_trust(directory, pem, present)
