"""Globs, regular expressions and URLs over few letters, so that they often meet."""

from hypothesis import strategies as st

GLOB_PIECES = ("*", "**", "/", "/**/", "a", "b", "ab", ".", "?", "x=1", "{a,b}", "{,/a*}", "\\*")
URL_PIECES = ("a", "b", "ab", "/", "//", ".", "?", "x=1", "*", "é", "\n", "\u2028", "\ud800")
HOSTS = ("a.test", "b.test", "aab.test")

paths = st.lists(st.sampled_from(URL_PIECES), max_size=8).map("".join)
urls = st.builds("http://{}/{}".format, st.sampled_from(HOSTS), paths)

glob_texts = st.lists(st.sampled_from(GLOB_PIECES), max_size=7).map("".join)
absolute_globs = st.builds(
    "http://{}/{}".format, st.sampled_from((*HOSTS, "*.test", "{a,b}.test", "*a*")), glob_texts
)
globs = st.one_of(absolute_globs, glob_texts, st.builds("**/{}".format, glob_texts), urls)

REGEX_PIECES = (
    *("a", "b", "ab", ".", "/", r"\/", r"\.", "^", "$", "|", "(", ")", "(?:", "(a|b)", "é", "]"),
    *("*", "+", "?", "*?", "+?", "{2}", "{1,}", "{0,2}?", "{01}", "{2,1}", "{", "{1001}", "\\"),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", r"\x61", r"\u0062", r"\-", r"\1"),
    *("[ab]", "[^a]", "[A-b]", r"[\w.]", r"[^\W\d]", "[]", "[^]", "[a-]", "[-a]", "[a", "[b-a]"),
    *("(?=a)", "(?<n>a)", r"\cJ", r"\_", "[%--]", r"[\d-a]", "[a-b-a]", r"[\]]", r"[\b]", "K"),
)
regex_sources = st.one_of(
    st.lists(st.sampled_from(REGEX_PIECES), max_size=7).map("".join),
    st.text(alphabet=r"ab.\/*+?()[]{}|^$-,1dwb", max_size=8),
)
regex_flags = st.one_of(
    st.sampled_from(("", "g", "i", "gi", "s", "m", "y", "d")), st.text("dgimsuvyz", max_size=3)
)
