"""A sentence to simple clauses: relative clauses, appositions, coordination, fronted and compound predicates.

Each clause comes out as text with a subject of its own, so that one reader of simple clauses serves them
all: "X, founded in Y, makes Z" gives "X is founded in Y" and "X makes Z".
"""

import re
from collections.abc import Callable, Iterator

from ko_integrations.compiler.complements import AGED, COPULA, Complements
from ko_integrations.compiler.definitions import unbracketed
from ko_integrations.compiler.gapping import ungapped
from ko_integrations.compiler.patterns import PatternIndex
from ko_integrations.compiler.rewriting import past_of, rewritten
from ko_integrations.compiler.text import INHERITED, Token, keys_of, tokens_of, unstopped
from ko_integrations.morphology import ARTICLES, PAST_FORMS, PREPOSITIONS, is_participle

__all__ = ["ANTECEDENT", "ClauseSplitter"]

ANTECEDENT = "\ue001"
"""Stands in a clause for the object of the clause before it ("..., which is based in Oslo")."""

_TRIGGER = re.compile(
    r"[,;()]|\b(?:and|but|as|who|which|that|whose|where|because|although|though|while|when|whereas|such as|since|after|before|like|with (?:an?|his|her|their)|is|am|are|was|were)\b"
    r"|-year-old|-year old|^(?:As|Born|[A-Z]\w+ed) |['’](?:s|m|re) ", re.IGNORECASE,
)  # fmt: skip
_MOST_COMMAS = 80
"""A sentence with more is an enumeration, or no prose; taking it apart would nest as deep."""
_RELATIVE = frozenset(("who", "which", "that", "whose"))
_CUTS = frozenset("because although though while when whereas".split())
_SPLITTING = _RELATIVE | _CUTS | frozenset((";", ",", "and", "but"))
_SUBJECTS = frozenset("he she it they we i this his her its their my our there".split())
_OF_PLACE = re.compile(r"^of [A-Z][^,]*, ")
_BETWEEN = frozenset(
    (
        "and",
        "but",
        "also",
        "then",
        ",",
        "later",
        "subsequently",
        "eventually",
        "afterwards",
        "now",
        "currently",
    )
)
_ENDING_VERBS = frozenset(("quit", "left", "stop", "resign", "retir"))
_PLACING = frozenset("in from at on near by of".split())
_ONGOING = frozenset(
    "becoming succeeding replacing joining serving working living moving marrying winning receiving earning leaving".split()
)


class ClauseSplitter:
    """Splits sentences with the verbs and nouns that the forms of a vocabulary know.

    `reads` tells whether a clause has a reading as it stands, and so need not be taken further apart.
    """

    def __init__(self, index: PatternIndex, reads: Callable[[str], bool] = lambda _: False) -> None:
        self._index = index
        self._reads = reads
        self._verbs = index.verbs | _ENDING_VERBS
        self._complements = Complements(self.finite, reads, self._leading_name)

    def clauses(self, sentence: str) -> Iterator[str]:
        """Yield the simple clauses of a sentence, in order."""
        sentence = unstopped(sentence)
        if not _TRIGGER.search(sentence) or sentence.count(",") + sentence.count(";") > _MOST_COMMAS:
            yield sentence
            return
        if parts := rewritten(sentence, self.finite, self._leading_name):
            for part in parts:
                yield from [part] if part == sentence else self.clauses(part)
            return
        if "(" in sentence and (parts := list(unbracketed(sentence))):
            *said, rest = parts
            yield from said
            yield from [rest] if rest in said or not self.finite(rest) else self.clauses(rest)
            return
        if gapped := ungapped(sentence, self.finite):
            for clause in gapped:
                yield from self._complements.parts(clause)
            return
        for clause in self._split(sentence):
            yield from self._complements.parts(clause)

    def finite(self, text: str) -> bool:
        """Return whether `text` contains a finite verb of the vocabulary or a form of "be" or "have"."""
        tokens = tokens_of(text)
        return any(self._finite(token, base=_takes_base(tokens)) for token in tokens)

    def _finite(self, token: Token, *, base: bool = False) -> bool:
        if token.key in ("be", "have") or token.text in ("has", "have", "had", "'ve", "’ve"):
            return True
        if not token.text.islower() or token.key not in self._verbs or token.text.endswith("ing"):
            return False
        return base or token.text.endswith(("s", "ed")) or token.text in PAST_FORMS

    def _leading_name(self, text: str) -> str:
        tokens = tokens_of(text)
        for number, token in enumerate(tokens):
            if number and self._finite(token, base=_takes_base(tokens)):
                return text[: token.start].strip(" ,")
            if (
                not number
                and not token.text[0].isupper()
                and token.text not in ("he", "she", "it", "they", INHERITED)
            ):
                return ""
        return text.strip(" .,")

    def _split(self, text: str) -> Iterator[str]:
        """Yield the coordinated, relative and apposed clauses of `text`."""
        tokens = tokens_of(text)
        seen = False
        depth = 0
        for number, token in enumerate(tokens):
            if token.text in '("“':
                depth += 1
            elif token.text in ')"”' and depth:
                depth -= 1
            if depth > 0 or not number:
                seen = seen or self._finite(token)
                continue
            cut = self._cut(text, tokens, number, seen)
            if cut is not None:
                yield from cut
                return
            seen = seen or self._finite(token, base=_takes_base(tokens))
        yield text

    def _cut(self, text: str, tokens: list[Token], number: int, seen: bool) -> list[str] | None:
        token, word = tokens[number], tokens[number].text.lower()
        if word not in _SPLITTING:
            return None
        head = text[: token.start].rstrip(" ,")
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        if after is None:
            return None
        if word == ";":
            return [*self._split(head), *self._split(text[after.start :])]
        if word in _CUTS and seen and token.text.islower():
            return [*self._split(head)]
        if (
            word in _RELATIVE
            and token.text.islower()
            and (
                word != "that" or tokens[number - 1].text[-1:] == "," or tokens[number - 1].text[0].isupper()
            )
        ):
            if (
                self._finite(after, base=True)
                or word == "whose"
                or after.text in ("also", "currently", "now")
            ):
                return self._relative(text, head, word, after.start, seen)
            return None
        if word in (",", "and", "but"):
            return self._joined(text, tokens, number, head, seen)
        return None

    def _relative(self, text: str, head: str, word: str, start: int, seen: bool) -> list[str]:
        rest, main = self._until_comma(text[start:])
        subject = self._antecedent(head) if seen else head
        relative = f"{subject}'s {rest}" if word == "whose" else f"{subject} {rest}"
        tail = [f"{INHERITED} {main}" if seen else f"{head} {main}"] if main else []
        first = [*self._split(head)] if seen else []
        return [*first, *self._split(relative), *(part for piece in tail for part in self._split(piece))]

    def _antecedent(self, head: str) -> str:
        """Whom a relative clause is about: in "X is a singer who ..." it is X, else the object before it."""
        match = COPULA.match(head)
        return match["subject"] if match and match["article"] else ANTECEDENT

    def _until_comma(self, text: str) -> tuple[str, str]:
        """Return the text up to the comma that closes an inserted clause, and what follows it."""
        tokens = tokens_of(text)
        for number, token in enumerate(tokens[:-1]):
            after = tokens[number + 1]
            if after.text in ("and", "but") and number + 2 < len(tokens):
                after = tokens[number + 2]
            if token.text == "," and self._finite(after):
                return text[: token.start], text[after.start :]
        return text.rstrip(" ,"), ""

    def _joined(self, text: str, tokens: list[Token], number: int, head: str, seen: bool) -> list[str] | None:
        following = number + 1
        while following < len(tokens) and tokens[following].text.lower() in _BETWEEN:
            following += 1
        if following >= len(tokens):
            return None
        after, comma = tokens[following], tokens[number].text == ","
        rest = text[after.start :]
        if seen and self._finite(after, base=_takes_base(tokens)):
            return [*self._split(head), *self._split(f"{INHERITED} {rest}")]
        lower = after.text.lower()
        if (
            seen
            and (lower in _SUBJECTS or lower in ARTICLES or after.text[0].isupper())
            and self._has_clause(tokens, following)
        ):
            return [*self._split(head), *self._split(rest)]
        if not comma or following != number + 1:
            return None
        if seen and after.text in _ONGOING:
            ongoing = f"{INHERITED} {past_of(after.text[:-3])}{rest[len(after.text) :]}"
            return [*self._split(head), *self._split(ongoing)]
        return self._apposed(text, tokens, following, head, seen)

    def _is_noun(self, token: Token) -> bool:
        return any(True for _ in self._index.nouns_at(keys_of([token]).keys, 0))

    def _has_clause(self, tokens: list[Token], start: int) -> bool:
        """Whether a verb comes before the next comma or conjunction: the words are a clause, not a list item."""
        for place in range(start + 1, len(tokens)):
            if tokens[place].text.lower() in (",", "and", "or", "but"):
                return False
            if self._finite(tokens[place], base=tokens[start].text.lower() in ("i", "we", "they")):
                return True
        return False

    def _apposed(self, text: str, tokens: list[Token], place: int, head: str, seen: bool) -> list[str] | None:
        """Take "Acme, a maker of tents, ..." apart at what begins at `place`; None if that describes nothing.

        `seen` says that the head is a clause already, whose object is described.
        """
        after = tokens[place]
        beyond = tokens[place + 1].text if place + 1 < len(tokens) else ""
        following, named = beyond.lower(), beyond[:1].isupper()
        inserted, main = self._until_comma(text[after.start :])
        bearer = INHERITED if seen else head
        if after.text.islower() and (named or beyond[:1].isdigit()) and self._is_noun(after):
            said = [f"{bearer} has {inserted}"]
        else:
            if after.text.isdigit() and len(after.text) < 4 and not seen and following in ("", ","):
                inserted = f"{after.text} years old"
                main = _OF_PLACE.sub("", text[tokens[place + 1].end :].strip()) if following else ""
            elif following == "of" and not seen and self._is_noun(after):
                inserted = f"the {inserted}"
            elif not (
                _describes(after, following)
                or AGED.match(inserted)
                or not seen
                and named
                and after.text in _PLACING
            ):
                return None
            reduced = after.text.islower() and after.text not in ARTICLES
            subject = (self._antecedent(head) if reduced else ANTECEDENT) if seen else head
            said = list(self._split(f"{subject} is {inserted}"))
        return [
            *(self._split(head) if seen else ()),
            *said,
            *(self._split(f"{bearer} {main}") if main else ()),
        ]


def _describes(token: Token, following: str) -> bool:
    """Whether an apposition begins here: "a maker of ...", "based in ..."."""
    participle = token.text.islower() and is_participle(token.text) and following in PREPOSITIONS
    return token.text.lower() in ARTICLES or participle


def _takes_base(tokens: list[Token]) -> bool:
    """Whether the subject takes a verb without an ending ("I work")."""
    return bool(tokens) and tokens[0].text in ("I", "i", "We", "we", "They", "they", "You", INHERITED)
