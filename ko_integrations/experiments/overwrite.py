"""Experiment 3: a fact just learnt, and a fact just changed (main paper, section 5.3, table 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ko_integrations.baselines import AppendOnlyRAG
from ko_integrations.experiments.lab import Lab, percent
from ko_integrations.experiments.plots import bars, figure
from ko_integrations.experiments.report import Card, Finding, Report, Stat, Table, listed, stat
from ko_integrations.vocabulary import Vocabulary

__all__ = ["EXCHANGES", "Exchange", "run"]

LEARNT = 6


@dataclass(frozen=True)
class Exchange:
    """What a user says, asks in other words, and later corrects."""

    predicate: str
    said: str
    value: str
    asked: str
    corrected: str
    new_value: str


EXCHANGES = (
    Exchange("name", "My name is Alice.", "Alice", "What is my name?", "Actually, call me Alicia.", "Alicia"),
    Exchange("birthday", "My birthday is March 15th.", "March 15th", "When is my birthday?",
             "I got it wrong, my birthday is March 16th.", "March 16th"),
    Exchange("phone", "My phone is 555-1111.", "555-1111", "What number can I be reached at?",
             "My phone changed to 555-2222.", "555-2222"),
    Exchange("employer", "I work at Northwind.", "Northwind", "Which company employs me?",
             "I moved to Contoso, I work there now.", "Contoso"),
    Exchange("occupation", "I am a nurse.", "nurse", "What do I do for a living?",
             "I retrained, I am a paramedic now.", "paramedic"),
    Exchange("home_city", "I live in Lisbon.", "Lisbon", "Which city is my home?",
             "I have moved to Porto.", "Porto"),
    Exchange("favorite_food", "My favorite food is sushi.", "sushi", "What do I like to eat best?",
             "My favorite food is pizza these days.", "pizza"),
    Exchange("dog_name", "My dog is called Rex.", "Rex", "What is my pet's name?",
             "We renamed the dog, it is Max now.", "Max"),
    Exchange("car", "I drive a Saab.", "Saab", "What car do I own?", "I sold it and drive a Volvo.", "Volvo"),
    Exchange("shoe_size", "I wear size 39 shoes.", "39", "How big are my feet?", "My shoe size is 40 after all.", "40"),
    Exchange("doctor", "My doctor is Dr Okafor.", "Okafor", "Who treats me when I am ill?",
             "I changed to Dr Lindqvist.", "Lindqvist"),
    Exchange("wifi_password", "The wifi password is bluefish7.", "bluefish7", "How do I get online at home?",
             "The wifi password is now redfox9.", "redfox9"),
)  # fmt: skip
"""The first two, with their questions, and the first correction are the paper's; it gives no other of its six."""


def run(lab: Lab) -> Report:
    """Learn six facts and ask for each; then correct each and ask again."""
    scores: dict[str, dict[str, list[float]]] = {}
    for seed in lab.track(range(lab.seeds), "overwrite", lab.seeds):
        chosen = [EXCHANGES[i] for i in np.random.default_rng(seed).permutation(len(EXCHANGES))[:LEARNT]]
        systems: dict[str, Callable[[Lab, list[Exchange]], dict[str, float]]] = {
            "KO, exact read": _exact,
            "KO, first hit by meaning": _nearest,
            "KO, sentences in, questions asked": _spoken,
            "RAG, batch ingestion": partial(_append, ingestion="batch"),
            "RAG, real-time ingestion": partial(_append, ingestion="realtime"),
        }
        for name, measure in systems.items():
            for column, value in measure(lab, chosen).items():
                scores.setdefault(name, {}).setdefault(column, []).append(value)
    results = {name: {column: stat(v) for column, v in columns.items()} for name, columns in scores.items()}
    return _report(lab, results)


def _exact(lab: Lab, exchanges: list[Exchange]) -> dict[str, float]:
    learnt, changed, stale = [], [], []
    with lab.store() as store:
        for e in exchanges:
            store.update("user", e.predicate, e.value)
            found = store.read_exact("user", e.predicate)
            learnt.append(found is not None and found.object == e.value)
        for e in exchanges:
            store.update("user", e.predicate, e.new_value)
            found = store.read_exact("user", e.predicate)
            changed.append(found is not None and found.object == e.new_value)
            stale.append(any(hit.ko.object == e.value for hit in store.read(e.asked, k=2 * LEARNT)))
    return {"learnt": percent(learnt), "changed": percent(changed), "stale": percent(stale)}


def _nearest(lab: Lab, exchanges: list[Exchange]) -> dict[str, float]:
    """Ask the store by meaning alone, in the words of the question."""
    learnt, changed, stale = [], [], []
    with lab.store() as store:
        for e in exchanges:
            store.update("user", e.predicate, e.value)
            learnt.append(store.read(e.asked, k=1)[0].ko.object == e.value)
        for e in exchanges:
            store.update("user", e.predicate, e.new_value)
            hits = store.read(e.asked, k=2 * LEARNT)
            changed.append(hits[0].ko.object == e.new_value)
            stale.append(any(hit.ko.object == e.value for hit in hits))
    return {"learnt": percent(learnt), "changed": percent(changed), "stale": percent(stale)}


def _spoken(lab: Lab, exchanges: list[Exchange]) -> dict[str, float]:
    """Through the offline compiler and question parser; nothing but the sentences is given."""
    learnt, changed, stale = [], [], []
    with lab.store(Vocabulary.general()) as store:
        for e in exchanges:
            store.write(e.said)
            learnt.append(_holds(store.ask(e.asked).value, e.value))
        for e in exchanges:
            store.write(e.corrected)
            changed.append(_holds(store.ask(e.asked).value, e.new_value))
            stale.append(any(_holds(hit.ko.object, e.value) for hit in store.read(e.asked, k=2 * LEARNT)))
    return {"learnt": percent(learnt), "changed": percent(changed), "stale": percent(stale)}


def _append(lab: Lab, exchanges: list[Exchange], ingestion: Literal["batch", "realtime"]) -> dict[str, float]:
    rag = AppendOnlyRAG(lab.embedder, ingestion=ingestion)
    learnt = []
    for e in exchanges:
        rag.add([e.said])
        learnt.append(_top(rag, e.asked, e.value))
    rag.reindex()
    indexed = [_top(rag, e.asked, e.value) for e in exchanges]
    return {"learnt": percent(learnt), "after reindex": percent(indexed), **_corrected(rag, exchanges)}


def _corrected(rag: AppendOnlyRAG, exchanges: list[Exchange]) -> dict[str, float]:
    """Append the corrections, index everything, and look at what comes first and what comes along."""
    rag.add([e.corrected for e in exchanges])
    rag.reindex()
    changed = [_top(rag, e.asked, e.new_value) for e in exchanges]
    stale = [any(_holds(hit.ko.object, e.value) for hit in rag.read(e.asked, k=5)) for e in exchanges]
    rag.close()
    return {"changed": percent(changed), "stale": percent(stale)}


def _top(rag: AppendOnlyRAG, question: str, value: str) -> bool:
    hits = rag.read(question, k=1)
    return bool(hits) and _holds(hits[0].ko.object, value)


def _holds(answer: object, value: str) -> bool:
    """Whether a value, or the statement it was taken from, says `value`."""
    return answer is not None and value.casefold() in str(answer).casefold()


def _report(lab: Lab, results: dict[str, dict[str, Stat]]) -> Report:
    paper: dict[str, tuple[float | None, float | None]] = {
        "KO, exact read": (100.0, None),
        "KO, sentences in, questions asked": (100.0, None),
        "RAG, batch ingestion": (0.0, 83.3),
    }
    rows = [
        (name, c["learnt"], paper.get(name, (None, None))[0], c.get("after reindex"), paper.get(name, (None, None))[1],
         c["changed"], c["stale"])
        for name, c in results.items()
    ]  # fmt: skip
    columns = (
        "system", "just learnt %", "paper", "after batch reindex %", "paper",
        "after a correction: new value first %", "old value still retrieved %",
    )  # fmt: skip
    exact, nearest, spoken, batch, _ = results.values()
    rho = lab.rho([e.asked for e in EXCHANGES])
    card = Card("user exchanges", "questions about oneself, most of them reworded", "names, numbers, words",
                len(EXCHANGES), rho, f"{EXCHANGES[0].asked} -> Alice")  # fmt: skip
    file = "overwrite.svg"
    groups = {"learnt": "just learnt", "after reindex": "after reindex", "changed": "corrected: new value first",
              "stale": "old value retrieved"}  # fmt: skip
    with figure(lab.out / file, card.short, width=8) as axes:
        axes.set_title("Overwrite")
        bars(axes, list(groups.values()), {name: [c.get(g) for g in groups] for name, c in results.items()})
    return Report(
        name="overwrite",
        title="Deterministic overwrite against append-only RAG",
        source="main paper, section 5.3, table 4",
        findings=(
            Finding("just learnt, before a batch reindex: KO by exact read; RAG",
                    listed((exact["learnt"], batch["learnt"])), "100, 0 %", "100, 0 %",
                    exact["learnt"].mean == 100 and batch["learnt"].mean == 0),
            Finding("RAG after the batch reindex, first hit", f"{batch['after reindex']} %", "83.3 %"),
            Finding("after a correction, new value first: KO by exact read; RAG",
                    listed((exact["changed"], batch["changed"])), "", "KO 100 %", exact["changed"].mean == 100),
            Finding("after a correction, old value among the hits: KO; RAG",
                    listed((exact["stale"], batch["stale"])), "both coexist in RAG", "KO 0 %",
                    exact["stale"].mean == 0),
            Finding("KO by meaning alone, first hit: just learnt; corrected",
                    f"{nearest['learnt']}; {nearest['changed']} %", "not told apart"),
            Finding("KO end to end offline, sentences in and questions asked: just learnt; corrected",
                    f"{spoken['learnt']}; {spoken['changed']} %", "100 % just learnt"),
        ),
        tables=(Table(f"{LEARNT} facts of {len(EXCHANGES)} a trial, RAG by its first hit", columns, rows),),
        notes=(
            (
                "The paper's protocol never changes a fact: its two columns ask for something said once. The last two "
                "columns correct every fact and ask again."
            ),
            (
                f"RAG after the reindex has {batch['after reindex']} %, the paper 83.3 % (5 of its 6 exchanges): which "
                "share of the rewordings an embedding model bridges depends on the wording alone, and the paper gives "
                "two of its six."
            ),
            (
                "Real-time ingestion closes the gap before the reindex, as the paper says, and nothing else: the old "
                "statement stays among the five nearest, and a reader has to choose."
            ),
            (
                "`sentences in, questions asked` is the store end to end, offline: what it loses, the compiler or the "
                "question parser did not understand; the slot itself is never ambiguous."
            ),
        ),
        corpora=[card],
        settings=lab.settings,
        figure=file,
    )  # fmt: skip
