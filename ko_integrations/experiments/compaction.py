"""What is left of facts when prose memory is compacted (follow-up paper, sections before 7)."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ko_integrations.experiments.corpora import CORPORA, Item
from ko_integrations.experiments.lab import Lab, exact_recall, percent
from ko_integrations.experiments.plots import DISCRETE, NEURAL, figure
from ko_integrations.experiments.report import Card, Cell, Finding, Report, Stat, Table, listed, stat
from ko_integrations.models import count_tokens
from ko_integrations.protocols import TextModel

__all__ = ["run"]

RATIOS = (1, 2, 5, 10, 20, 50)
FACTS = 100
ROUNDS = 3
CORPUS = CORPORA["people"].with_values("ordinary words")
_COMPACT = (
    "Rewrite the notes in at most {budget} tokens, for somebody who has to answer questions about them later and "
    "sees only what you write. Reply with the rewritten notes alone."
)
_ASK = "Answer from the notes. Give the value alone. If they do not say, answer: unknown."

_Compactor = Callable[[list[str], int], list[str]]


def run(lab: Lab) -> Report:
    """Compact a hundred statements to 1/r of their tokens, ask for every fact; once, and in rounds."""
    rows: dict[str, list[Stat]] = {
        "KO, exact read": [],
        "prose, sentences selected": [],
        "prose, in rounds": [],
    }
    if lab.model is not None:
        rows["prose, compacted by the model"] = []
    for ratio in lab.track(RATIOS, "compaction", len(RATIOS)):
        trials: dict[str, list[float]] = {name: [] for name in rows}
        for seed in range(lab.seeds):
            items = CORPUS.sample(FACTS, seed)
            with lab.store() as store:
                store.update_many(item.fact for item in items)
                trials["KO, exact read"].append(exact_recall(store, items))
            selector = _selector(lab)
            budget = sum(map(count_tokens, map(_sentence, items))) // ratio
            trials["prose, sentences selected"].append(
                _kept(items, selector(list(map(_sentence, items)), budget))
            )
            trials["prose, in rounds"].append(_kept(items, _rounds(items, ratio, selector)))
            if lab.model is not None and seed == 0:  # a model is asked once a ratio: a hundred calls each
                trials["prose, compacted by the model"].append(_by_model(lab.model, items, budget))
        for name, figures in trials.items():
            rows[name].append(stat(figures))
    card = lab.card(CORPUS, FACTS)
    file = "compaction.svg"
    _plot(lab.out / file, rows, card)
    cells: list[tuple[Cell, ...]] = [(name, *stats) for name, stats in rows.items()]
    return Report(
        name="compaction",
        title="Compaction loss",
        source="follow-up paper, compaction experiments (before section 7)",
        findings=_findings(rows),
        tables=(
            Table(
                "Facts still answered %, by compression ratio", ("memory", *(f"{r}x" for r in RATIOS)), cells
            ),
        ),
        notes=_notes(lab.model is not None),
        corpora=[card],
        settings={**lab.settings, "facts": FACTS, "model": lab.model_name},
        figure=file,
    )


def _findings(rows: dict[str, list[Stat]]) -> list[Finding]:
    at = ", ".join(f"{ratio}x" for ratio in RATIOS)
    exact = all(s.mean == 100 for s in rows["KO, exact read"])
    paper = "losses up to 60 %, near 0 at high ratios"
    return [
        Finding(f"facts still answered after compacting {at}: {name}", listed(stats), paper)
        for name, stats in rows.items()
        if not name.startswith("KO")
    ] + [
        Finding(
            "KO by exact read, which is not compacted", "100 %" if exact else "less", "100 %", "100 %", exact
        )
    ]


def _sentence(item: Item) -> str:
    return f"The {item.predicate.replace('_', ' ')} of {item.subject} is {item.value}."


def _selector(lab: Lab) -> _Compactor:
    """Extractive summary: the most central sentences by embedding, as many as fit, in their order."""

    def select(sentences: list[str], budget: int) -> list[str]:
        vectors = lab.embedder.encode(sentences)
        order = np.argsort(-(vectors @ vectors.mean(axis=0)), kind="stable")
        kept: list[int] = []
        used = 0
        for i in order:
            used += count_tokens(sentences[i])
            if used > budget:
                break
            kept.append(int(i))
        return [sentences[i] for i in sorted(kept)]

    return select


def _rounds(items: Sequence[Item], ratio: int, select: _Compactor) -> list[str]:
    """Compact whenever a third has been added, as agents do when the context fills, to the same final size."""
    notes: list[str] = []
    budget = sum(count_tokens(_sentence(item)) for item in items) // ratio
    for part in np.array_split(np.arange(len(items)), ROUNDS):
        notes += [_sentence(items[i]) for i in part]
        notes = select(notes, budget)
    return notes


def _kept(items: Sequence[Item], notes: Sequence[str]) -> float:
    left = set(notes)
    return percent(_sentence(item) in left for item in items)


def _by_model(model: TextModel, items: Sequence[Item], budget: int) -> float:
    notes = "\n".join(map(_sentence, items))
    summary, _ = model.complete(_COMPACT.format(budget=budget), notes)
    answers = (model.complete(_ASK, f"{summary}\n\nQuestion: {item.question}")[0] for item in items)
    return percent(
        item.value.casefold() in answer.casefold() for item, answer in zip(items, answers, strict=True)
    )


def _notes(has_model: bool) -> tuple[str, ...]:
    notes = [
        (
            "Offline the compactor selects whole sentences, so a fact is kept or lost: accuracy is the budget, 1 / r. "
            "A model may pack facts more tightly or garble them; the fragment of the follow-up reports losses of up to "
            "60 % of the facts, and near-zero accuracy at high ratios for every model."
        ),
        "Compacting in rounds to the same size loses as much, and loses it from the older rounds too.",
        "The store is not compacted: what is put into the prompt is looked up, so 100 % at every ratio.",
    ]
    if not has_model:
        notes.append("Give a chat model (`--model`) to compact with it: nothing was called here.")
    return tuple(notes)


def _plot(file: Path, rows: dict[str, list[Stat]], card: Card) -> None:
    with figure(file, card.short) as axes:
        for i, (name, stats) in enumerate(rows.items()):
            color = DISCRETE if name.startswith("KO") else NEURAL
            axes.plot(RATIOS, [s.mean for s in stats], ("o-", "s-", "^:", "x--")[i], color=color, label=name)
        axes.set(
            xscale="log", xlabel="compression ratio", ylabel="facts answered, %", title="Compaction loss"
        )
        axes.set_xticks(RATIOS, [f"{r}x" for r in RATIOS])
        axes.minorticks_off()
        axes.legend()
