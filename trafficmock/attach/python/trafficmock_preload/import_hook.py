"""Changes modules when the application imports them, and restores them.

So none is imported needlessly.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

    Change = Callable[[ModuleType], None]

VENDORED = ".urllib3."
"""Part of the names of modules in copies of urllib3 within other libraries."""


class NotAttachableError(ImportError):
    """A library that an attached application must not use, because it cannot be changed."""


class ChangingFinder:
    """A finder before all others: it finds modules by them, and has the modules changed.

    :param changes: the changes by the names of modules.
    """

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes
        self._under_way: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that has a change; for others return ``None``."""
        change = self.change_of(name)
        if change is None or name in self._under_way:
            return None
        self._under_way.add(name)
        try:
            spec = _found(self, name, path, target)
        finally:
            self._under_way.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = ChangingLoader(spec.loader, change)  # type: ignore[assignment]
        return spec

    def change_of(self, name: str) -> Change | None:
        """Return the change of a module; ``None`` if it has none."""
        change = self._changes.get(name)
        if change is None and VENDORED in name:
            return self._changes.get(name[name.rindex(VENDORED) + 1 :])
        return change


class ChangingLoader:
    """Loads a module by its own loader, and changes it before the import returns."""

    def __init__(self, loader: Any, change: Change) -> None:
        self._loader = loader
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        """Make the module by its own loader."""
        spec.loader = self._loader
        try:
            return self._loader.create_module(spec)
        finally:
            spec.loader = self  # type: ignore[assignment]

    def exec_module(self, module: Any) -> None:
        """Run and change the module, and restore its own loader."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        apply(self._change, module)


def apply(change: Change, module: ModuleType) -> None:
    """Change a module; an error, as with an unknown version, is written to stderr.

    :raises NotAttachableError: if the application must not use the module.
    """
    try:
        change(module)
    except NotAttachableError:
        raise
    except Exception as error:
        sys.stderr.write(
            f"trafficmock: {module.__name__} cannot be attached ({type(error).__name__}: {error})\n"
        )


def install(changes: Mapping[str, Change]) -> ChangingFinder:
    """Change modules that are imported from now on, and those that were imported already."""
    finder = ChangingFinder(changes)
    sys.meta_path.insert(0, finder)
    for name, module in list(sys.modules.items()):
        change = finder.change_of(name)
        if change is not None and module is not None:
            try:
                apply(change, module)
            except NotAttachableError as error:
                sys.stderr.write(f"trafficmock: {error}\n")
                # Later imports of it fail (importlib's rule for None).
                sys.modules[name] = None  # type: ignore[assignment]
    return finder


def _found(
    own: ChangingFinder, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        if finder is own or find is None:
            continue
        spec: ModuleSpec | None = find(name, path, target)
        if spec is not None:
            return spec
    return None


class Changed:
    """The attributes of a module, its classes and its neighbours that a change replaces.

    :param module: before the change.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._before = [(owner, dict(vars(owner))) for owner in _owners(module)]
        self._replaced: list[tuple[Any, str, Any, Any]] = []

    def compare(self) -> None:
        """Find what has been replaced."""
        for owner, before in self._before:
            for name, now in list(vars(owner).items()):
                if before.get(name, _ABSENT) is not now:
                    self._replaced.append((owner, name, before.get(name, _ABSENT), now))
        self._before.clear()

    def restore(self) -> None:
        """Put back what was there; what others have replaced since stays."""
        for owner, name, before, now in self._replaced:
            if vars(owner).get(name) is not now:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        name = self._module.__name__
        if name in sys.modules and sys.modules[name] is None:
            # The import was refused.
            sys.modules[name] = self._module


_ABSENT: Any = object()


def _owners(module: ModuleType) -> Iterator[Any]:
    """Yield a module, the classes in it, and modules in it of the same package."""
    package = module.__name__.partition(".")[0]
    yield module
    for value in list(vars(module).values()):
        if isinstance(value, type) or (
            isinstance(value, ModuleType)
            and value is not module
            and value.__name__.partition(".")[0] == package
        ):
            yield value
