"""A fitted router on disk: skops, never pickle."""

from pathlib import Path
from typing import Any, Final

from ko_integrations.errors import KOError, MissingExtraError

__all__ = ["RouterFileError", "read", "write"]

_FORMAT: Final = 2
_PARTS: Final = frozenset({"features", "classifier", "prior", "seed", "pipeline"})
# What a saved router may hold beyond what skops trusts anyway.
_OWN_TYPES: Final = frozenset(
    {
        "ko_integrations.router.pipelines.EmbeddingFeatures",
        "ko_integrations.router.pipelines.HashedFeatures",
        "ko_integrations.router.pipelines.SurfaceFeatures",
        "ko_integrations.router.regression.PriorLogisticRegression",
        "ko_integrations.router.regression.QuestionsApart",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.tree._tree.Tree",
    }
)


class RouterFileError(KOError):
    """The file is no saved router, or holds types a router does not consist of; nothing of it was run.

    Or it cannot be written.
    """


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError as exc:
        raise MissingExtraError("skops", "router") from exc
    return skops.io


def write(content: dict[str, Any], path: str | Path) -> None:
    """Write a router's parts.

    Raises:
        RouterFileError: the file cannot be written.
        MissingExtraError: skops is not installed.
    """
    skops = _skops()
    try:
        skops.dump({"format": _FORMAT, **content}, path)
    except OSError as exc:
        raise RouterFileError(f"{path} cannot be written: {exc}") from exc


def read(path: str | Path) -> dict[str, Any]:
    """Return the parts of a saved router; a file with a type that no router holds is refused unread.

    Raises:
        RouterFileError: missing, damaged, another format or other types.
        MissingExtraError: skops is not installed.
    """
    from zipfile import BadZipFile

    skops = _skops()
    try:
        unknown = sorted(set(skops.get_untrusted_types(file=path)) - _OWN_TYPES)
        if unknown:
            raise RouterFileError(f"{path} holds {', '.join(unknown)}")
        content = skops.load(path, trusted=sorted(_OWN_TYPES))
    except (OSError, BadZipFile, KeyError, ValueError, TypeError) as exc:
        raise RouterFileError(f"{path} is no saved router: {exc}") from exc
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise RouterFileError(f"{path} is no router of format {_FORMAT}")
    if not content.keys() >= _PARTS or not hasattr(content["pipeline"], "steps"):
        raise RouterFileError(f"{path} lacks a part of a router")
    return content
