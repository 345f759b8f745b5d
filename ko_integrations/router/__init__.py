"""Factual or fuzzy: a learned router that looks at how a query is put, never at similarity scores.

Importing this package loads neither scikit-learn nor numpy; the first `classify` does.

Source: main paper, sections 4.3 and 5.5.

Example:
    >>> from ko_integrations.router import Router
    >>> Router().classify("Tell me Bob's email").label
    'factual'
"""

from ko_integrations.router.datasets import Label, Queries, packaged, read_labelled
from ko_integrations.router.files import RouterFileError
from ko_integrations.router.links import StoreLinker, SubjectLinker
from ko_integrations.router.reasons import RouteDecision
from ko_integrations.router.router import CLASSIFIERS, FEATURES, Router

__all__ = [
    "CLASSIFIERS",
    "FEATURES",
    "Label",
    "Queries",
    "RouteDecision",
    "Router",
    "RouterFileError",
    "StoreLinker",
    "SubjectLinker",
    "packaged",
    "read_labelled",
]
