"""Errors reach other processes, and say what to do."""

import copy
import pickle
from typing import get_args

import pytest

from ko_integrations import errors
from ko_integrations.cli.output import REMEDIES, one_line
from ko_integrations.errors import (
    BatchError,
    IndexBehind,
    IndexMismatchError,
    InvalidInputError,
    KOError,
    LogUnavailableError,
    MissingExtraError,
    SetValuedError,
)

RAISED = [
    InvalidInputError("k", "expected a whole number"),
    SetValuedError("predicate", "holds a set"),
    BatchError([(3, InvalidInputError("object", "is blank"))]),
    MissingExtraError("psycopg", "postgres"),
    LogUnavailableError("the disk is full"),
    IndexMismatchError("made by another model", "encode"),
    IndexMismatchError("measures l2"),
    IndexBehind(70_000),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("passed_on", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
def test_an_error_comes_through_a_pickle_as_it_was(error, passed_on):
    """A worker of a process pool whose error cannot be read back takes the whole pool down."""
    other = passed_on(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert other.__dict__.keys() == error.__dict__.keys()
    if isinstance(error, BatchError):
        assert str(other.errors[0][1]) == "object: is blank"
    else:
        assert other.__dict__ == error.__dict__


def test_every_error_that_takes_more_than_a_message_is_tried():
    own = {name for name in errors.__all__ if "__init__" in vars(getattr(errors, name))}
    assert own <= {type(error).__name__ for error in RAISED}
    assert all(issubclass(type(error), KOError) for error in RAISED)


@pytest.mark.parametrize("remedy", get_args(errors.Remedy))
def test_a_remedy_is_said_in_the_terms_of_who_reads_it(remedy):
    error = IndexMismatchError("the two differ", remedy)
    assert (error.problem, error.remedy) == ("the two differ", remedy)
    assert str(error).startswith("the two differ: ")
    assert "=..." in str(error)
    assert one_line(error) == f"the two differ: {REMEDIES[remedy]}"
    assert "--" in one_line(error)
    assert "=..." not in one_line(error)


def test_a_mismatch_without_a_remedy_promises_none():
    error = IndexMismatchError("measures l2, and that cannot be changed")
    assert str(error) == one_line(error) == "measures l2, and that cannot be changed"
