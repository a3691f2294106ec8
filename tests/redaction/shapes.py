"""Shapes around a secret: how its name and value, or a key of known form, stand in traffic."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

SHAPES: dict[str, str] = {
    "java map": "{{user=ada, {name}={s}}}",
    "python dict": "{{'user': 'ada', '{name}': '{s}'}}",
    "python bytes": "{{'{name}': b'{s}'}}",
    "ruby map": '{{"user"=>"ada", "{name}"=>"{s}"}}',
    "ruby symbols": '{{:{name}=>"{s}"}}',
    "json5": "{{user: 'ada', {name}: '{s}',}}",
    "python pairs": "[('user', 'ada'), ('{name}', '{s}')]",
    "rust": 'Creds {{ {name}: Some("{s}") }}',
    "json": '{{"user":"ada","{name}":"{s}"}}',
    "json, number of spaces": '{{ "{name}" : "{s}" }}',
    "json, cut off": '{{"user":["ada",{{"{name}":"{s}',
    "json, from the middle": 'a","{name}":"{s}"}}',
    "json, escaped": '{{\\"{name}\\":\\"{s}\\"}}',
    "json, escaped quote": '42["login",{{"{name}":"a\\"{s}"}}]',
    "json, object beneath": '{{"{name}":{{"v":"{s}"}}}}',
    "json, list beneath": '{{"{name}":["{s}"]}}',
    "java map, object beneath": "{{{name}={{v={s}}}}}",
    "python, object beneath": "('{name}', {{'{name}': {{'v': ['{s}']}}}})",
    "socket.io": '42["login",{{"{name}":"{s}"}}]',
    "socket.io, object": '42["login",{{"{name}":{{"v":"{s}"}}}}]',
    "engine.io": '0{{"{name}":"{s}","upgrades":[]}}',
    "jsonp": 'cb({{"{name}":"{s}"}});',
    "json prefix": ')]}}\',\n{{"{name}":"{s}"}}',
    "json comment": '/* c */ {{"{name}":"{s}"}}',
    "json byte order mark": '\ufeff{{"{name}":"{s}"}}',
    "log of java": "[INFO] login {{{name}={s}}}",
    "events": 'event: a\ndata: {{"{name}":{{"v":"{s}"}}}}\n\n',
    "events, two lines": 'data: {{"{name}":\ndata: {{"v":"{s}"}}}}\n\n',
    "events, carriage returns": 'event: a\rdata: {{"{name}":{{"v":"{s}"}}}}\r\r',
    "name and value": '[{{"name":"{name}","value":"{s}"}}]',
    "value and name": '[{{"value":"{s}","name":"{name}"}}]',
    "key and value": '{{"key":"{name}","value":{{"stringValue":"{s}"}}}}',
    "entries": '[["user","ada"],["{name}","{s}"]]',
    "python name and value": "[{{'name': '{name}', 'value': '{s}'}}]",
    "arguments": '["curl","--{name}","{s}"]',
    "xml": "<a><{name}>{s}</{name}></a>",
    "xml, attribute beside": '<{name} type="text">{s}</{name}>',
    "xml, cdata": "<{name}><![CDATA[{s}]]></{name}>",
    "xml, own line": "<{name}>\n  {s}\n</{name}>",
    "xml, namespace": '<w:{name} Encoding="b">{s}</w:{name}>',
    "xml, beneath": "<{name}><v>{s}</v></{name}>",
    "xml, attribute": '<user {name}="{s}"/>',
    "xml, property": '<property name="{name}">{s}</property>',
    "xml, property value": '<add value="{s}" key="{name}"/>',
    "xml-rpc": "<member><name>{name}</name><value><string>{s}</string></value></member>",
    "plist": "<key>{name}</key>\n<string>{s}</string>",
    "html input": '<input type="hidden" name="{name}" value="{s}">',
    "html meta": '<meta name="{name}" content="{s}">',
    "html json": html.escape('{{"{name}":"{s}"}}'),
    "assignment": 'self.{name} = "{s}"',
    "query": "GET /a?x=1&{name}={s} HTTP/1.1",
    "url": "see https://h.test/a?x=1&{name}={s}.",
    "url fragment": "https://h.test/#{name}={s}",
    "url page of fragment": "https://h.test/#/cb?{name}={s}",
    "url within": "https://h.test/?next=/cb?{name}={s}",
    "form in brackets": "https://h.test/?user[{name}]={s}",
    "graphql variables": '{{"query":"mutation {{ a({name}: $v) }}","variables":{{"v":"{s}"}}}}',
}
"""With any name that is secret wherever it stands, and that is one word."""

LONG_SHAPES: dict[str, str] = {
    "yaml": "user: ada\n{name}: {s}\n",
    "yaml, block": "{name}: |\n  {s}\n  {s}\nuser: ada\n",
    "yaml, list": "{name}:\n  - {s}\nuser: ada",
    "yaml, object": "{name}:\n  v: {s}\nuser: ada",
    "yaml, pair": "env:\n  - name: {name}\n    value: {s}\n  - name: USER\n    value: ada\n",
    "yaml, quoted pair": "- name: '{name}'\n  value: \"{s}\"\n",
    "xml, value": '<{name} type="text" value="{s}"/>',
    "option": "curl --{name} {s} https://h.test",
    "graphql": '{{ login({name}: "{s}") }}',
    "graphql block": 'mutation {{ login({name}: """{s}""") }}',
    "ini": "[a]\n{name} = {s}\n",
    "header": "POST / HTTP/1.1\r\n{name}: {s}\r\n\r\n",
    "details": '{{"{name}Details":{{"value":"{s}"}}}}',
}
"""With names that are no usual words."""

SPACED_SHAPES: dict[str, str] = {
    "json": '{{"{name}":"{s}"}}',
    "python": "{{'{name}': '{s}'}}",
    "text": "{name}: {s}",
    "query": "https://h.test/?{name}={s}",
    "path": "GET /?x=1&{name}={s}",
    "form": "user=ada&{name}={s}",
}
"""With names of several words."""

KEY_SHAPES: dict[str, str] = {
    "bare": "{s}",
    "in brackets": "[{s}]",
    "in braces": "{{{s}}}",
    "in a list": '["a", {s}',
    "in words": "use {s}, please",
    "in a query": "https://h.test/?{s}",
}
"""With a key of known form."""

KEYS = (
    *("sk-ant-{}", "sk_live_{}", "ghp_{}{}", "glpat-{}{}", "xoxb-{}", "AIza{}{}{}", "npm_{}{}{}"),
    *("GOCSPX-{}{}", "hvs.{}{}", "xapp-{}", "dop_v1_{x}{x}", "gsk_{}{}", "glsa_{}{}", "ATATT3{}{}"),
    *("dckr_pat_{}{}", "sbp_{}{}", "glptt-{}{}", "eyJhbGciOi.{}.{}", "eyJhbGciOi..{}.{}.{}"),
    *("eyJhbGciOi.{}.{}.{}.{}", "pypi-{}{}{}", "lin_api_{}{}", "SG.{}{}.{}{}"),
    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-128-CBC,0\n\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    "https://u:{}@h.test/",
    "https://hooks.slack.com/services/T0ABCDEF1/B0ABCDEF1/{}{}",
    "https://api.telegram.org/bot123456789:{}{}/sendMessage",
    "https://discord.com/api/webhooks/123456789012345678/{}{}",
    "Authorization: Bearer {}",
    "curl -u ada:{}",
)
"""Keys of known form: ``{}`` is the secret, ``{x}`` in hexadecimal digits."""


def shaped(shape: str, name: str, secret: str) -> str:
    """Return a shape with the name and value of a secret."""
    return shape.format(name=name, s=secret)


def keyed(form: str, secret: str) -> str:
    """Return a key that has a secret."""
    return form.replace("{x}", secret.encode().hex()).replace("{}", secret)


def nested(text: str) -> list[str]:
    """Return texts that have a text within them, in a coding."""
    return [json.dumps({"log": text}), f"https://h.test/?q={quote(text, safe='')}"]
