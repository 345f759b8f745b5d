"""How well a path of predicates explains a question: each hop must account for a part of its words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ko_integrations.query.lexicon import Lexicon, Profile
from ko_integrations.query.question import ANY_KIND, Asked, Token
from ko_integrations.query.words import CARRIERS

__all__ = ["Fit", "explains", "fit"]

_KIND_MATCH, _CLIP = 0.75, 0.9
_RIVAL_MARGIN = 0.25
_FAINT = 0.3
_UNUSUAL = 0.95
"""What an order of the words is worth beside the usual one."""
_PLACES = frozenset({"place", "city", "country", "continent"})
_CLASSIFIERS = CARRIERS | {"category", "class", "group", "item", "entry", "unit", "level", "status"}
"""Heads that only say of what sort the noun before them is: a "child category" is a child."""
_WHEREABOUTS = _PLACES | {"organisation"}


@dataclass(frozen=True, slots=True)
class Fit:
    """How a path of predicates fits a question, each part from 0 to 1.

    Attributes:
        coverage: share of the question's content that the path explains, in the order of the nesting.
        loose: the same whatever the order.
        support: how much each hop explains that no other does better.
        focus: whether the last hop gives the kind of thing asked for (1 yes, 0.5 cannot tell, 0 no).
        denied: share of the content that no hop explains although some other predicate is called so.
        rival: another predicate is called by the noun asked for, and the last of this path is not.
        clash: the last predicate holds another kind of thing than is asked for, and is not called so.
        lost: a word that by itself names a predicate, and no hop explains.
        other: the question names a sibling of the last predicate ("email password" of "wifi password", "blood
            sugar" of "blood type"), or something else that the subject has ("my car's colour" of "favourite colour").
        leap: the first hop is not spoken of, though the question gives the subject a noun of its own.
        stranger: the path leads through a person of whom the question does not speak: where somebody's wife
            lives is no answer to where he does, while the country of a birth place is one to where he was born.
        exact: a question form of the last predicate says just this.
    """

    coverage: float
    loose: float
    support: tuple[float, ...]
    focus: float
    denied: float
    rival: bool
    clash: bool
    lost: bool
    other: bool
    leap: bool
    stranger: bool
    exact: bool

    @property
    def score(self) -> float:
        """Return one figure to rank paths by."""
        if self.exact:
            return 1.0 + 0.1 * self.focus
        weakest = min(self.support, default=0.0)
        return (
            0.42 * self.coverage
            + 0.18 * self.loose
            + 0.2 * weakest
            + 0.2 * self.focus
            - 0.04 * len(self.support)
        )


def explains(token: Token, profile: Profile) -> float:
    """Return how firmly a word points to a predicate, 0 to 1."""
    direct = _named(token, profile)
    if token.kinds and profile.kinds & token.kinds:
        return max(direct, _KIND_MATCH)
    return direct


def _named(token: Token, profile: Profile) -> float:
    direct = profile.cues.get(token.key, 0.0)
    if token.clipped and not direct:
        return max((_CLIP * w for key, w in profile.cues.items() if key.startswith(token.lower)), default=0.0)
    return direct


def fit(asked: Asked, path: Sequence[Profile], lexicon: Lexicon, stated: frozenset[str] = frozenset()) -> Fit:
    """Return how well `path` (from the subject outwards) explains the question.

    The words, nearest first, are given to the hops in order: word i to hop h, word j > i to a hop >= h.
    Words (keys) that stand in the values at the end of the path, `stated`, are explained by them.
    """
    strength = [[explains(token, profile) for profile in path] for token in asked.tokens]
    for token, row in zip(asked.tokens, strength, strict=True):
        if token.key in stated:
            row[-1] = 1.0
    total = asked.weight or 1.0
    gained, ordered = _aligned(asked.tokens, strength, len(path))
    if len(path) > 1:
        for order in asked.orders:
            other, shares = _aligned(
                [asked.tokens[i] for i in order], [strength[i] for i in order], len(path)
            )
            if _UNUSUAL * other > gained:
                gained, ordered = _UNUSUAL * other, shares
    loose, free = _unordered(asked.tokens, strength, len(path))
    exact = len(path) == 1 and path[0].concept in lexicon.asked_by(asked.form)
    support = tuple(min(1.0, max(a, 0.7 * b) / 0.6) for a, b in zip(ordered, free, strict=True))
    focus = _focus(asked, path)
    explained = {token.place: max(row) > 0 for token, row in zip(asked.tokens, strength, strict=True)}
    return Fit(
        coverage=1.0 if exact else gained / total,
        loose=1.0 if exact else loose / total,
        support=(1.0,) if exact else support,
        focus=focus,
        denied=0.0 if exact else _denied(asked, strength, lexicon) / total,
        rival=not exact and _rivalled(asked, path[-1], lexicon),
        clash=not exact and focus == 0.0,
        lost=not exact and _has_lost(asked, strength, lexicon),
        other=not exact
        and (
            _is_sibling(asked, path[-1], strength)
            or _has_other_head(asked, explained)
            or _owns_other(asked, explained, lexicon)
        ),
        leap=asked.owned and len(path) > 1 and support[0] == 0,
        stranger=any(
            "person" in hop.kinds and not share for hop, share in zip(path[:-1], support, strict=False)
        ),
        exact=exact,
    )


def _aligned(
    tokens: Sequence[Token], strength: Sequence[Sequence[float]], hops: int
) -> tuple[float, tuple[float, ...]]:
    """Return the best total over monotone alignments, and what each hop contributes to it."""
    best: list[tuple[float, tuple[float, ...]]] = [(0.0, (0.0,) * hops) for _ in range(hops)]
    for token, row in zip(tokens, strength, strict=True):
        following = []
        for hop in range(hops):
            reached, shares = max(best[: hop + 1], key=_balanced)
            gain = token.weight * row[hop]
            if gain:
                shares = (*shares[:hop], shares[hop] + gain, *shares[hop + 1 :])
            following.append((reached + gain, shares))
        best = following
    return max(best, key=_balanced)


def _balanced(state: tuple[float, tuple[float, ...]]) -> tuple[float, float]:
    return round(state[0], 6), sum(min(share, 0.3) for share in state[1])


def _unordered(
    tokens: Sequence[Token], strength: Sequence[Sequence[float]], hops: int
) -> tuple[float, tuple[float, ...]]:
    """Return the total if each word goes to the hop that it points to most, wherever it stands."""
    shares = [0.0] * hops
    for token, row in zip(tokens, strength, strict=True):
        best = max(row)
        if best:
            hop = min((h for h in range(hops) if row[h] == best), key=lambda h: shares[h])
            shares[hop] += token.weight * best
    return sum(shares), tuple(shares)


def _focus(asked: Asked, path: Sequence[Profile]) -> float:
    """Tell whether the last predicate holds what the question word and its noun ask for."""
    last = path[-1]
    if asked.kinds == ANY_KIND:
        return 0.9
    cued = [_named(token, last) for token in asked.tokens if token.key in asked.focus]
    if cued and max(cued) >= 0.85:
        named = 0.45 + 0.55 * sum(cued) / len(cued)
        unlike = bool(asked.kinds and last.kinds) and _kind_fit(asked.kinds, last.kinds, True) == 0
        return named - 0.2 * unlike
    if asked.kinds and last.kinds:
        spoken = any(_named(token, last) >= 0.85 for token in asked.tokens)
        return _kind_fit(asked.kinds, last.kinds, spoken)
    if not cued:
        return 0.5
    if max(cued):
        return 0.7
    earlier = any(profile.cues.get(key, 0.0) >= 0.9 for profile in path[:-1] for key in asked.focus)
    return 0.1 if earlier else 0.4


def _kind_fit(wanted: frozenset[str], given: frozenset[str], spoken: bool) -> float:
    """Return how well kinds agree; `spoken`: the question has a word of the predicate's own ("where ... work")."""
    if wanted == _WHEREABOUTS and "person" in given:
        return (
            0.0  # "where" is answered by an organisation, but hardly by what is a person or an organisation
        )
    if wanted == _WHEREABOUTS and not given & _PLACES and not spoken:
        return 0.6 if wanted & given else 0.0
    if wanted & given:
        return 0.95
    if wanted == {"continent"}:
        return 0.0
    return 0.5 if "place" in given and wanted & _PLACES else 0.0


def _denied(asked: Asked, strength: Sequence[Sequence[float]], lexicon: Lexicon) -> float:
    """Return the weight of the words that name a predicate, only none of this path; without a word, all."""
    return (
        1.0
        if not asked.tokens
        else sum(
            token.weight * (1 - max(row))
            for token, row in zip(asked.tokens, strength, strict=True)
            if lexicon.calls(token.key) or token.name_like
        )
    )


def _has_lost(asked: Asked, strength: Sequence[Sequence[float]], lexicon: Lexicon) -> bool:
    return any(
        lexicon.names(t.key) and max(row) <= _FAINT and not t.kinds and t.lower not in CARRIERS
        for t, row in zip(asked.tokens, strength, strict=True)
    )


def _is_sibling(asked: Asked, last: Profile, strength: Sequence[Sequence[float]]) -> bool:
    """Tell whether the question gives the noun of a predicate another attribute than the predicate's own.

    "My email password" is not the wifi password, but "my password" may be, and so may "my home wifi password".
    The same holds of names in a predicate: a "dose in children" asked for as "dose in Norway".
    """
    keys = {token.key for token in asked.tokens}
    shared = [phrase for phrase in last.phrases if keys.intersection(phrase)]
    if any(keys.issuperset(phrase) for phrase in last.phrases):
        return False
    if any(map(last.is_named_with, shared)) and any(
        token.name_like and max(row) == 0 for token, row in zip(asked.tokens, strength, strict=True)
    ):
        return True
    by_place = {token.place: token for token in asked.tokens}
    heads = [t for phrase in shared if len(phrase) > 1 for t in asked.tokens if t.key == phrase[-1]]
    before = [by_place[head.place - 1] for head in heads if head.place - 1 in by_place]
    return any(token.lower not in CARRIERS and not _named(token, last) for token in before)


def _has_other_head(asked: Asked, explained: Mapping[int, bool]) -> bool:
    """Tell whether the noun asked for is a compound of which the path explains all but the head.

    A "blood sugar" is a sugar, and no "blood type"; a "phone plan" is no phone.
    """
    for token in asked.tokens:
        is_head = token.key in asked.focus and token.place + 1 not in explained
        told = explained[token.place] or token.kinds or token.name_like or token.lower in _CLASSIFIERS
        if is_head and not told and explained.get(token.place - 1):
            return True
    return False


def _owns_other(asked: Asked, explained: Mapping[int, bool], lexicon: Lexicon) -> bool:
    """Tell whether what the subject is said to own is something that no hop speaks of."""
    if not asked.owned:
        return False
    known = {token.place: lexicon.names(token.key) for token in asked.tokens}
    place = asked.mention.end if asked.mention.end in explained else asked.mention.end + 1
    if place not in explained:
        return False
    while place + 1 in explained:
        place += 1
    return known[place] and not explained[place]


def _rivalled(asked: Asked, last: Profile, lexicon: Lexicon) -> bool:
    if not asked.focus:
        return False
    own = sum(last.cues.get(key, 0.0) for key in asked.focus) / len(asked.focus)
    return lexicon.best_named(asked.focus) - own >= _RIVAL_MARGIN
