"""The router: decisions, learning, the store's word, files."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError, KOError
from ko_integrations.router import (
    CLASSIFIERS,
    RouteDecision,
    Router,
    RouterFileError,
    StoreLinker,
    packaged,
)
from ko_integrations.router.files import write

pytest.importorskip("sklearn", reason="scikit-learn: extra `router`")


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("What is the capital of France?", "factual"),
        ("Tell me Bob's email.", "factual"),
        ("Who created Python?", "factual"),
        ("Is Anna vegetarian?", "factual"),
        ("How many people work at Acme?", "factual"),
        ("population of sweden", "factual"),
        ("Write a poem about Paris.", "fuzzy"),
        ("Explain the concept of inflation.", "fuzzy"),
        ("What's a creative way to remember the capital of France?", "fuzzy"),
        ("Should I rent or buy?", "fuzzy"),
        ("Compare tea and coffee.", "fuzzy"),
        ("You are a pirate. Greet me.", "fuzzy"),
        ("what is entropy", "fuzzy"),
        ("What is the X of Y?", "factual"),
        ("wifi password", "factual"),
        ("hi", "fuzzy"),
        ("How do I reach Bob?", "factual"),
    ],
)
def test_decisions(query: str, label: str) -> None:
    decision = Router().classify(query)
    assert decision.label == label
    assert 0.5 <= decision.probability <= 1
    assert decision.why


def test_why_names_what_speaks_for_the_decision() -> None:
    assert "factual" in Router().classify("What is the population of Chad?").why
    why = Router().classify("Write a limerick about rain.").why
    assert "verb of making" in why
    assert "fuzzy" in why


def test_many_are_classified_as_one_by_one() -> None:
    queries = list(packaged("adversarial").texts[:20])
    router = Router()
    together = router.classify_many(queries)
    assert together == [router.classify(query) for query in queries]
    assert [decision.label for decision in together] == router.predict(queries)
    assert router.classify_many([]) == router.predict([]) == []
    assert router.classify_many(iter(queries)) == together
    assert router.predict(query for query in queries) == router.predict(queries)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("features", ["surface", "embedding"])
def test_every_variant_learns_saves_and_loads(features: str, classifier: str, tmp_path: Path) -> None:
    pytest.importorskip("skops", reason="skops: extra `router`")
    embedder = HashingEmbedder(64)
    sample = packaged("held_out")
    router = Router(features, classifier, embedder=embedder)
    router.fit(sample.texts, sample.labels, packaged_too=False)
    found = router.predict(sample.texts)
    right = sum(a == b for a, b in zip(found, sample.labels, strict=True))
    assert right > 0.85 * len(sample)
    router.save(tmp_path / "router.skops")
    loaded = Router.load(tmp_path / "router.skops", embedder=embedder)
    assert loaded.classify_many(sample.texts[:10]) == router.classify_many(sample.texts[:10])


def test_the_default_saves_and_loads(tmp_path: Path) -> None:
    pytest.importorskip("skops", reason="skops: extra `router`")
    Router().save(tmp_path / "router.skops")
    query = "When does the lease end?"
    assert Router.load(tmp_path / "router.skops").classify(query) == Router().classify(query)


def test_a_file_with_foreign_types_is_refused(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io", reason="skops: extra `router`")
    skops.dump({"format": 1, "pipeline": json.dumps}, tmp_path / "evil.skops")
    with pytest.raises(RouterFileError, match="holds"):
        Router.load(tmp_path / "evil.skops")
    skops.dump({"format": 99}, tmp_path / "other.skops")
    with pytest.raises(RouterFileError, match="format"):
        Router.load(tmp_path / "other.skops")
    (tmp_path / "text.skops").write_text("no zip")
    write({}, tmp_path / "part.skops")
    write(
        dict.fromkeys(("features", "classifier", "prior", "seed", "pipeline"), 3), tmp_path / "number.skops"
    )
    for name in ("part.skops", "number.skops"):
        with pytest.raises(RouterFileError, match="lacks"):
            Router.load(tmp_path / name)
    with pytest.raises(RouterFileError, match="written"):
        Router("surface").save(tmp_path / "no" / "router.skops")
    for name in ("text.skops", "missing.skops"):
        with pytest.raises(KOError, match="no saved router"):
            Router.load(tmp_path / name)


def test_a_saved_embedding_router_asks_for_its_embedder(tmp_path: Path) -> None:
    pytest.importorskip("skops", reason="skops: extra `router`")
    Router("embedding", embedder=HashingEmbedder(32)).save(tmp_path / "router.skops")
    for other in (None, HashingEmbedder(64), Named("other", 32)):
        with pytest.raises(InvalidInputError, match="embedder"):
            Router.load(tmp_path / "router.skops", embedder=other)


class Named(HashingEmbedder):
    """Another model, with vectors as long."""

    def __init__(self, model_id: str, dimension: int) -> None:
        super().__init__(dimension)
        self.model_id = model_id


def test_your_labels_are_learnt_beside_the_packaged_ones() -> None:
    query = "zorble the frobnicator"
    for label in ("factual", "fuzzy"):
        own = [f"{query} {number}" for number in range(20)]
        router = Router().fit(own, [label] * 20)
        assert router.classify(query).label == label
        assert router.classify("What is the capital of France?").label == "factual"
    assert Router().classify(query) == Router().classify(query)  # others keep the packaged model


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: Router("magic"), "features"),
        (lambda: Router(classifier="oracle"), "classifier"),
        (lambda: Router("embedding"), "embedder"),
        (lambda: Router("surface", "random_forest", seed=-1), "seed"),
        (lambda: Router(subject_linker=lambda query: "slots").classify("Bob phone"), "subject_linker"),  # type: ignore[arg-type, return-value]
        (lambda: Router().classify("  "), "query"),
        (lambda: Router().classify(None), "query"),  # type: ignore[arg-type]
        (lambda: Router().classify_many("one string"), "queries"),
        (lambda: Router().classify_many(None), "queries"),  # type: ignore[arg-type]
        (lambda: Router().predict(5), "queries"),  # type: ignore[arg-type]
        (lambda: Router(prior="yes"), "prior"),  # type: ignore[arg-type]
        (lambda: Router(subject_linker=3), "subject_linker"),  # type: ignore[arg-type]
        (lambda: Router("embedding", embedder=3), "embedder"),
        (lambda: Router().fit(None, ["fuzzy"]), "queries"),  # type: ignore[arg-type]
        (lambda: Router().fit(["a"], None), "labels"),  # type: ignore[arg-type]
        (lambda: Router().fit(["a"], []), "labels"),
        (lambda: Router().fit(["a"], ["maybe"]), "labels"),
        (lambda: Router().fit(["a"], ["fuzzy"], packaged_too=False), "labels"),
        (
            lambda: Router("surface", "linear_svm").fit(["a", "b"], ["fuzzy", "factual"], packaged_too=False),
            "queries",
        ),
    ],
)
def test_bad_input(call: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert caught.value.field == field


def test_decisions_are_values() -> None:
    decision = RouteDecision("factual", 0.9, "because")
    with pytest.raises(AttributeError):
        decision.label = "fuzzy"  # type: ignore[misc]


def test_the_store_tips_the_scale_but_does_not_decide() -> None:
    doubtful = "bruno parking"
    plain = Router().classify(doubtful)
    told = Router(subject_linker=lambda query: "slot").classify(doubtful)

    def chance(decision: RouteDecision) -> float:
        return decision.probability if decision.label == "factual" else 1 - decision.probability

    assert chance(told) > chance(plain)
    assert "names a stored subject and its predicate" in told.why or told.label == "fuzzy"
    poem = "Write a poem about Bob's email."
    assert Router(subject_linker=lambda query: "slot").classify(poem).label == "fuzzy"
    assert Router(subject_linker=lambda query: "none").classify(doubtful) == plain


def test_a_bare_slot_that_the_store_knows_is_a_lookup() -> None:
    bare, toast = "ravi boss", "A toast to Ravi's boss, with two puns and no mention of money."
    knows = Router(subject_linker=lambda query: "slot")
    assert knows.classify(bare).label == "factual"
    assert "hardly anything else" in knows.classify(bare).why
    assert knows.classify(toast).label == "fuzzy"


def test_what_is_no_question_is_read_without_the_prior_of_questions() -> None:
    for query in (
        "team names for office bowling",
        "recursion for a 10 yr old",
        "tent or campervan for scotland",
    ):
        assert Router().classify(query).label == "fuzzy"
    for query in (
        "aarti timings Kashi Vishwanath temple",
        "flash point of diesel",
        "code for the drug cupboard",
    ):
        assert Router().classify(query).label == "factual"


def test_the_store_linker_knows_subjects_and_their_predicates() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(64)) as store:
        store.update("Alice Lind", "email", "alice@example.org")
        store.update("user", "shoe size", 42)
        linker = StoreLinker(store)
        assert linker("what is alice lind's email?") == "slot"
        assert linker("What is my shoe size?") == "slot"
        assert linker("Write about Alice Lind") == "subject"
        assert linker("What is Bob's email?") == "none"
        assert linker("?") == "none"


def test_importing_loads_no_heavy_library() -> None:
    code = (
        "import sys, ko_integrations.router as r; r.RouteDecision; "
        "print([m for m in ('torch', 'sklearn', 'scipy', 'skops', 'chromadb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
