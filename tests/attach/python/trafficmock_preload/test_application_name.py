"""What an application is called that nobody named."""

import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload import application_name as module
from trafficmock_preload.application_name import (
    PARENT,
    application_name,
    name_in,
    name_of,
    project_name,
)
from twisted.trial.unittest import SynchronousTestCase

CHARACTERS = "a.-_:\"' \n[]=#\u00e9\x00"


class NameTests(SynchronousTestCase):
    """The name of the project, else of the program, else of the parent."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve()
        self.inner = self.folder / "src"
        self.inner.mkdir(parents=True)

    def declare(self, text: str) -> None:
        (self.folder / "pyproject.toml").write_text(text)

    def test_project(self) -> None:
        """Scripts are of the project around them, tools of that in which they run."""
        self.declare('[project]\nversion = "1"\nname = "shop" # ours\n')
        for words in (
            [str(self.inner / "app.py")],
            ["app.py"],
            ["/venv/bin/gunicorn", "shop:app"],
            ["-m", "flask", "run"],
        ):
            self.assertEqual(name_of(["python", *words], str(self.inner)), "shop", words)
        self.assertEqual(name_of(["python", "app.py"], os.sep), "app")

    def test_program(self) -> None:
        """Without a project the program names it; some processes have none."""
        for words, wanted in (
            (["app.py"], "app"),
            (["/srv/import_prices.py", "all"], "import_prices"),
            (["/venv/bin/gunicorn", "shop:app"], "gunicorn"),
            (["-X", "dev", "-m", "http.server"], "http.server"),
            (["caf\u00e9.py"], ""),
            (["-c", "pass"], ""),
            ([], ""),
        ):
            self.assertEqual(name_of(["python", *words], os.sep), wanted, words)

    def test_no_regular_file(self) -> None:
        """A FIFO of that name is passed over: nobody writes to it."""
        self.declare('[project]\nname = "shop"\n')
        os.mkfifo(self.inner / "pyproject.toml")
        found: list[str] = []
        reader = threading.Thread(
            target=lambda: found.append(project_name(str(self.inner))), daemon=True
        )
        reader.start()
        reader.join(10)
        self.assertEqual(found, ["shop"])

    def test_declared(self) -> None:
        """What names no project, or cannot be a client id, is passed over."""
        for text, wanted in (
            ("[tool.poetry]\nname = 'shop'\n", "shop"),
            ('[tool.x]\nname = "x"\n\n[project]\nname="shop"\n', "shop"),
            ('[tool.ruff]\nname = "x"\n', ""),
            ('[project]\nname = "a:b"\n', ""),
            ('[project]\nname = ""\n', ""),
            ("", ""),
        ):
            self.assertEqual(name_in(text), wanted, text)
            self.declare(text)
            self.assertEqual(project_name(str(self.inner)), wanted, text)
        (self.folder / "pyproject.toml").write_bytes(b"\xff\xfe")
        self.assertEqual(project_name(str(self.inner)), "")

    def test_children(self) -> None:
        """A process tells its children its name; one that is not told any has its process id."""
        environment: dict[str, str] = {}
        for words, wanted in (
            (["-c", "pass"], f"python-{os.getpid()}"),
            (["app.py"], "app"),
            (["-c", "from multiprocessing.spawn import spawn_main"], "app"),
            (["worker.py"], "worker"),
        ):
            self.patch(module, "command_line", lambda given=words: ["python", *given])
            self.patch(os, "getcwd", lambda: os.sep)
            self.assertEqual(application_name(environment), wanted)
            self.assertEqual(environment, {PARENT: wanted})

    def test_no_folder(self) -> None:
        """A process whose directory was removed has a name all the same."""

        def getcwd() -> str:
            raise FileNotFoundError

        self.patch(os, "getcwd", getcwd)
        self.patch(module, "command_line", lambda: ["python", "app.py"])
        self.assertEqual(application_name({}), "app")

    @given(st.text(alphabet=CHARACTERS, max_size=60))
    def test_any(self, text: str) -> None:
        """Whatever stands in the file, what is found is one word that credentials can carry."""
        found = name_in(f"[project]\nname = {text}")
        self.assertTrue(found.isprintable())
        self.assertFalse({":", " ", "\n", '"'} & {*found})
