"""A griffe extension: a pydantic model's fields are its signature, as its users call it."""

from typing import Any

import griffe

_MODELS = {"_Frozen", "BaseModel", "BaseRetriever", "BaseMemory"}


class Fields(griffe.Extension):
    """Gives models without an `__init__` of their own one that takes their public fields."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the signature of one class."""
        if "__init__" in cls.members or not _MODELS & {
            str(base).rsplit(".", 1)[-1] for base in cls.bases
        }:
            return
        fields = [
            griffe.Parameter(
                field.name,
                annotation=field.annotation,
                kind=griffe.ParameterKind.keyword_only,
                default=field.value,
            )
            for field in cls.members.values()
            if isinstance(field, griffe.Attribute) and _is_field(field)
        ]
        init = griffe.Function(
            "__init__",
            parameters=griffe.Parameters(griffe.Parameter("self"), *fields),
        )
        cls.set_member("__init__", init)


def _is_field(attribute: griffe.Attribute) -> bool:
    annotated = attribute.annotation is not None
    constant = "ClassVar" in str(attribute.annotation)
    hidden = attribute.name.startswith("_") or "property" in attribute.labels
    return annotated and not constant and not hidden
