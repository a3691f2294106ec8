"""Forms of keys that are known without a name: prefixes of vendors, tokens, PEM, paths of webhooks.

The list is our own. The rules of gitleaks (MIT, 96 kB, 220 rules) and the plugins of detect-secrets
(Apache 2.0) are the sources to compare it with, and are not used as they are: most of their rules
need a word beside the key, which here the names find, or the exact length of a real key, which
those of tests do not have; and they leave out what looks made up, as keys of tests do.

The sources are in the syntax of RE2, which needs time linear in the text.
"""

from __future__ import annotations

from typing import Final

_LETTERS: Final = "A-Za-z0-9"
_WORD: Final = rf"{_LETTERS}_\-"

_JWT: Final = (
    rf"eyJ[{_WORD}]{{6,}}\.[{_WORD}]{{6,}}(?:(?:\.[{_WORD}]*){{3}}|\.[{_WORD}]*)?"
    rf"|eyJ[{_WORD}]{{6,}}\.(?:\.[{_WORD}]+){{2,3}}"
)
"""JSON Web Tokens, signed and encrypted; an encrypted one has five parts, of which the second may
be empty."""

FORMS: Final = {
    "eyJ": _JWT,
    "sk-": rf"sk-[{_WORD}]{{16,}}",
    "[sr]k_": rf"(?:sk|rk)_(?:live|test)_[{_LETTERS}]{{8,}}",
    "whsec_": rf"whsec_[{_LETTERS}+/=]{{16,}}",
    "A(?:KIA|SIA|BIA|CCA)": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "gh[pousr]_": rf"gh[pousr]_[{_LETTERS}]{{20,}}",
    "github_": rf"github_pat_[{_LETTERS}_]{{20,}}",
    "gl[a-z]{2,6}-": (
        r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|imt|agent|oas|soat|ffct|wt)-"
        rf"[{_WORD}]{{16,}}(?:\.[{_WORD}.]{{6,}})?"
    ),
    "xox": rf"xox[abcdeoprs](?:\.xox[a-z])?-[{_WORD}]{{10,}}",
    "xapp-": rf"xapp-[{_WORD}]{{10,}}",
    "AIza": rf"AIza[{_WORD}]{{30,}}",
    "ya29": rf"ya29\.[{_WORD}]{{20,}}",
    "GOCSPX-": rf"GOCSPX-[{_WORD}]{{16,}}",
    "npm_": rf"npm_[{_LETTERS}]{{30,}}",
    "pypi-": rf"pypi-[{_WORD}]{{30,}}",
    "rubygems_": rf"rubygems_[{_LETTERS}]{{20,}}",
    "dckr_": rf"dckr_(?:pat|oat)_[{_WORD}]{{16,}}",
    "CLOJARS_": rf"CLOJARS_[{_LETTERS}]{{20,}}",
    "hf_": rf"hf_[{_LETTERS}]{{20,}}",
    "api_org_": rf"api_org_[{_LETTERS}]{{20,}}",
    "gsk_": rf"gsk_[{_LETTERS}]{{20,}}",
    "r8_": rf"r8_[{_LETTERS}]{{20,}}",
    "xai-": rf"xai-[{_LETTERS}]{{20,}}",
    "pplx-": rf"pplx-[{_LETTERS}]{{20,}}",
    "shp": r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}",
    "SG\\.": rf"SG\.[{_WORD}]{{16,}}\.[{_WORD}]{{16,}}",
    "xkeysib-": rf"xkeysib-[{_WORD}]{{20,}}",
    "hv[sbr]\\.": rf"hv[sbr]\.[{_WORD}]{{16,}}",
    "do[opr]_v1_": r"do[opr]_v1_[a-f0-9]{20,}",
    "gl(?:sa|c)_": rf"gl(?:sa|c)_[{_LETTERS}_+/=]{{16,}}",
    "ATATT3": rf"ATATT3[{_WORD}=]{{16,}}",
    "ATCTT3": rf"ATCTT3[{_WORD}=]{{16,}}",
    "sb(?:p|_secret)_": rf"sb(?:p|_secret)_[{_WORD}]{{16,}}",
    "lin_(?:api|oauth)_": rf"lin_(?:api|oauth)_[{_LETTERS}]{{16,}}",
    "secret_": rf"secret_[{_LETTERS}]{{30,}}",
    "ntn_": rf"ntn_[{_LETTERS}]{{30,}}",
    "figd_": rf"figd_[{_WORD}]{{16,}}",
    "dapi": r"dapi[a-f0-9]{32}(?:-\d)?",
    "PMAK-": r"PMAK-[a-f0-9-]{20,}",
    "NRAK-": r"NRAK-[A-Z0-9]{16,}",
    "NRJS-": r"NRJS-[a-f0-9]{16,}",
    "sntry[su]_": rf"sntry[su]_[{_LETTERS}_+/=]{{20,}}",
    "ph[cx]_": rf"ph[cx]_[{_LETTERS}]{{20,}}",
    "pul-": r"pul-[a-f0-9]{20,}",
    "dp\\.": rf"dp\.(?:pt|st|ct|sa|scim|audit)\.[{_WORD}.]{{20,}}",
    "tfp_": rf"tfp_[{_LETTERS}_]{{20,}}",
    "atlasv1": rf"[{_LETTERS}]{{14}}\.atlasv1\.[{_WORD}=]{{20,}}",
    "EAACEdEose0cBA": rf"EAACEdEose0cBA[{_LETTERS}]{{10,}}",
    "sq0": rf"sq0(?:atp|csp|idp)-[{_WORD}]{{16,}}",
    "LTAI": rf"LTAI[{_LETTERS}]{{16,}}",
    "AGE-SECRET": r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "ops_eyJ": rf"ops_eyJ[{_LETTERS}+/=]{{40,}}",
}
"""The form of each key, by what it begins with, itself a pattern. A form that would fit ordinary
words is long."""

KNOWN: Final = rf"(^|[^{_WORD}])({'|'.join(FORMS.values())})"
"""Keys whose form is known, and JSON Web Tokens; the second group is secret."""

WEBHOOKS: Final = (
    r"(/(?:services|workflows|triggers)/[TE][A-Z0-9]{6,14}/[A-Z0-9]{6,24}/"
    r"|/bot[0-9]{5,14}:|/api(?:/v[0-9]{1,2})?/webhooks/[0-9]{15,22}/|/webhookb2/)"
    r"([A-Za-z0-9_@/=-]{8,})"
)
"""URLs whose path is the secret: webhooks of Slack, Discord and Teams, Telegram's bots."""

WEBHOOK_HINT: Final = r"hook|/bot[0-9]|/services/|/workflows/|/triggers/"

PRIVATE_KEY: Final = r"(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)((?:-{0,4}[^-])*)"
"""A private key in PEM or of PGP, also an encrypted one, up to the next five dashes; the second
group is secret."""

BEARER: Final = r"\b(bearer)( {1,4}|%20|\+)([A-Za-z0-9._~+/=-]{6,})"
"""A bearer token within a text, in any case; the last group is secret."""

BASIC: Final = r"\b(basic)( {1,4}|%20|\+)([A-Za-z0-9+/=_-]{4,})"
"""Basic credentials within a text, in any case: the last group, if it is base64 with a colon."""

NOT_BEARER: Final = (
    r"^(?:[Aa]uth(?:entication|orization|enticated|orized)?|[Tt]okens?|[Ss]cheme|[Rr]ealm"
    r"|[Ff]ormat|[Cc]redentials?)[.]?$"
)
"""Words that follow "bearer" in sentences, as sentences write them."""

HINT: Final = rf"basic|PRIVATE KEY|{WEBHOOK_HINT}|{'|'.join(FORMS)}"
"""A text without one of these, in any case, has no key of a known form."""
