"""What a query looks like, without looking at what it is about: surface features, cues and word pieces.

Two sets are computed from the text alone, in plain Python:

- `surface_features`: the hand-made features of the main paper, sections 4.3.3 and 5.5;
- `query_features`: the wider set of the default router. Its cues have names a person can read, because
  `RouteDecision.why` is made of them.

Neither sees a similarity score, so neither changes when the store grows (section 4.3.2).
"""

import re
from typing import Final

from ko_integrations.router.lexicon import CLASSES, CONTRACTIONS, PREPOSITIONS, QUANTITY_ADJECTIVES

__all__ = [
    "AUXILIARIES",
    "QUESTION_WORDS",
    "SURFACE_FEATURES",
    "query_cues",
    "query_features",
    "surface_features",
    "words_of",
]

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’.\-+#][^\W_]+)*[+#]*|[?!:]|\d+")
_QUOTED: Final = re.compile(r"[\"“”«»]([^\"“”«»]{1,80})[\"“”«»]")
_SENTENCE_END: Final = re.compile(
    r"(?:(?<=[?!;:])|(?<=\.)(?<!\b[DMS]r\.)(?<!\b[MS][st]\.)(?<!\bMrs\.)(?<!\bvs\.))\s+(?=\S)"
)
_LONGEST_READ: Final = 2_000
QUESTION_WORDS: Final = ("what", "who", "when", "where", "which", "whose", "whom", "why", "how")
AUXILIARIES: Final = frozenset(
    "is are was were am be do does did has have had can could will would should may might must shall ought".split()
)
_POSSESSIVE: Final = frozenset("my his her their our its your".split())
_VERB_CLASSES: Final = ("verb of making", "verb of explaining", "verb of looking up", "role-play")
_CAUSE_HOW: Final = frozenset(
    "do does did can could should would to is are was were come has have might".split()
)

# Words before the request itself. The longest match is taken, again and again, until none fits.
_LEADS: Final[dict[str, str]] = {
    lead: name
    for name, leads in {
        "": (
            "hey|hi|hello|yo|ok|okay|so|well|um|umm|hmm|please|sorry|just|and|but|also|now|quick question|quick q|"
            "thanks|excuse me|by the way|btw|good morning|ugh|hey there|alright|then|dear|sorry to bother you|q|quick|"
            "again|like|kindly|actually|maybe|say|here is one|my question is|question"
        ),
        "polite request": (
            "can you please|could you please|would you please|can you|could you|would you|will you|can u|could u|"
            "would you mind|can someone|could someone|can anyone|can anybody|i want you to|"
            "i would like you to|i need you to|please can you|"
            "please could you|may i ask you to|you should|your task is to|be so kind as to"
        ),
        "asks whether one knows": (
            "do you know|do u know|does anyone know|does anybody know|do we know|would you happen to know|"
            "do you happen to know|do you remember|do you recall|any idea|any clue|anyone know|i was wondering|"
            "i wonder|i want to know|i need to know|i would like to know|i am trying to find out|i am curious|"
            "i forgot|i can not recall|i can not remember|let me know|remind me|may i know|want to know|who knows|"
            "can i know|i am wondering|would you know|tell us|have you any idea|you know|curious"
        ),
        "tell me": "tell me|give me|show me|get me|find me|send me|read me|look up|find out|fetch me|i need|i want|"
        "i would like|can i get|could i have|can i have|could i get|do you have|just give me|pull up|i am looking for|"
        "bring up|what about|how about|provide me with|provide|share|list me",
    }.items()
    for lead in leads.split("|")
}
_LONGEST_LEAD: Final = max(len(lead.split()) for lead in _LEADS)


def words_of(query: str) -> list[str]:
    """Return the query's lower-case words with contractions and chat spellings written out.

    What stands in quotation marks (a title, a word asked about) becomes one word, `quoted`: it is spoken of, and
    its own words ask for nothing.

    Example:
        >>> words_of("whats Bob's e-mail?")
        ['what', 'is', "bob's", 'e-mail', '?']
    """
    out: list[str] = []
    for token in _TOKEN.findall(_QUOTED.sub(" quoted ", query.replace("’", "'")).lower()):
        written_out = CONTRACTIONS.get(token)
        if written_out is None:
            out.append(token)
        else:
            out.extend(written_out.split())
    return out


def _strip_leads(words: list[str]) -> tuple[list[str], set[str]]:
    """Split the request from what only leads up to it; return the request and the kinds of lead met."""
    start, met = 0, set()
    while start < len(words) - 1:
        for size in range(min(_LONGEST_LEAD, len(words) - start - 1), 0, -1):
            name = _LEADS.get(" ".join(words[start : start + size]))
            if name is not None:
                met.add(name)
                start += size
                break
        else:
            break
    met.discard("")
    return words[start:], met


def _asked_last(query: str) -> list[str]:
    """Return the request of a query that first sets a scene ("I love that film. Who directed it?"), or nothing.

    It is the last sentence that asks, or the last one; or what follows "... I need to know".
    """
    sentences = _SENTENCE_END.split(_QUOTED.sub(" quoted ", query))
    if len(sentences) > 1:
        asking = [sentence for sentence in sentences[1:] if sentence.rstrip().endswith("?")]
        words = words_of((asking or sentences)[-1])
        return _strip_leads(words)[0] if words else []
    words = words_of(query)
    for start, word in enumerate(words):
        if (
            start > 2
            and word in QUESTION_WORDS
            and any(
                " ".join(words[start - size : start]) in _LEADS
                for size in range(2, min(_LONGEST_LEAD, start) + 1)
            )
        ):
            return words[start:]
    return []


SURFACE_FEATURES: Final = (
    "has_what", "has_who", "has_when", "has_where", "has_which", "has_how_quantity", "has_how_other", "has_why",
    "ends_with_question_mark", "has_proper_noun", "word_count", "has_creative_verb", "has_explanatory_verb",
    "is_the", "of", "my", "possessive", "opens_with_auxiliary", "opens_with_lookup_verb", "opens_with_verb",
    "has_opinion_word", "asks_meaning", "bare_definition",
)  # fmt: skip
"""Names of the surface features, in their order.

The paper lists interrogatives, the final question mark, proper nouns by their capitals, the word count, and
creative and explanatory verbs; its ablation adds "is the" and "my". The rest are of the same kind.
"""
_CREATIVE: Final = frozenset(
    "write compose create imagine invent draft generate design brainstorm craft make come pretend act rewrite "
    "continue produce pen".split()
)
_EXPLANATORY: Final = frozenset(
    "help suggest explain describe discuss compare summarize summarise recommend advise analyze analyse outline "
    "argue convince define interpret teach tips difference overview pros about".split()
)
_LOOKUP: Final = frozenset(
    "tell give show find look remind name list get check state fetch recall send".split()
)
_MEANING: Final = frozenset("mean means meaning definition define concept term".split())
_OPINION: Final = frozenset(
    "should best better good think would worth fair unfair right wrong ethical ideas favourite you more less".split()
)


def surface_features(query: str) -> list[float]:
    """Return the surface features of a query, in the order of `SURFACE_FEATURES`; all are 0 or 1 but the count.

    Source: main paper, sections 4.3.3 and 5.5.

    Example:
        >>> dict(zip(SURFACE_FEATURES, surface_features("Who created Python?")))["has_who"]
        1.0
    """
    tokens = query.split()
    words = [word for word in words_of(query) if word not in "?!:"]
    vocabulary = set(words)
    joined = f" {' '.join(words)} "
    first = words[0] if words else ""
    how = [following for word, following in zip(words, words[1:], strict=False) if word == "how"]
    values = {f"has_{word}": word in vocabulary for word in ("what", "who", "when", "where", "which", "why")}
    values |= {
        "has_how_quantity": any(word in QUANTITY_ADJECTIVES for word in how),
        "has_how_other": any(word not in QUANTITY_ADJECTIVES for word in how),
        "ends_with_question_mark": query.rstrip().endswith("?"),
        "has_proper_noun": any(token[:1].isupper() and token != "I" for token in tokens[1:]),
        "has_creative_verb": not vocabulary.isdisjoint(_CREATIVE),
        "has_explanatory_verb": not vocabulary.isdisjoint(_EXPLANATORY),
        "is_the": " is the " in joined,
        "of": "of" in vocabulary,
        "my": "my" in vocabulary,
        "possessive": any(word.endswith("'s") for word in words),
        "opens_with_auxiliary": first in AUXILIARIES,
        "opens_with_lookup_verb": first in _LOOKUP,
        "opens_with_verb": first not in _LOOKUP and any(first in CLASSES[name] for name in _VERB_CLASSES),
        "has_opinion_word": not vocabulary.isdisjoint(_OPINION),
        "asks_meaning": not vocabulary.isdisjoint(_MEANING),
        "bare_definition": len(words) <= 5
        and bool(re.match(r" what (is|are)( an?)? (?!the |my )\S+ ", joined)),
    }
    return [float(len(tokens)) if name == "word_count" else float(values[name]) for name in SURFACE_FEATURES]


def _opening(core: list[str], cues: dict[str, float]) -> None:
    """Add what the first words of the request say."""
    first = core[0]
    second = core[1] if len(core) > 1 else ""
    third = core[2] if len(core) > 2 else ""
    if first in QUESTION_WORDS:
        cues[f"opens with '{first}'"] = 1.0
        if first == "how":
            if second in QUANTITY_ADJECTIVES:
                cues["asks how much, how many, how long"] = 1.0
            elif second in _CAUSE_HOW:
                cues[f"asks how ('how {second}')"] = 1.0
            else:
                cues["asks how (other)"] = 1.0
        elif first in ("what", "which") and second and second not in AUXILIARIES:
            cues["asks which one of a kind ('what year', 'which city')"] = 1.0
        elif second in AUXILIARIES:
            cues[f"opens with '{first} {second}'"] = 1.0
        if first == "what" and second in ("is", "are", "was", "were"):
            _definition_or_attribute(core[2:], cues)
    elif first in AUXILIARIES:
        cues["yes-no question"] = 1.0
        cues[f"yes-no question with '{first}'"] = 1.0
        if third and second not in ("you", "i", "it", "there", "we", "the", "a", "an", "this"):
            if second.endswith("s") and not second.endswith(("'s", "ss", "us", "is")):
                cues["yes-no question about a whole kind (plural)"] = 1.0
        elif second:
            cues[f"yes-no question about '{second}'"] = 1.0
    else:
        for name in _VERB_CLASSES:
            if first in CLASSES[name]:
                cues[f"opens with a {name}"] = 1.0
        if first == "you" and second in ("are", "will"):
            cues["gives the listener a role"] = 1.0
        if first in ("a", "an", "some", "two", "three", "five", "ten"):
            cues["asks for one or some of a kind"] = 1.0
        asked = core[1:] if first in CLASSES["verb of looking up"] else core
        if asked and (asked[0] == "the" or asked[0] in _POSSESSIVE or asked[0].endswith("'s")):
            _definition_or_attribute(asked, cues)


def _definition_or_attribute(rest: list[str], cues: dict[str, float]) -> None:
    """Tell "what is X" (a concept) from "what is the Y of X" (a value)."""
    rest = [word for word in rest if word not in "?!:"]
    if not rest:
        return
    if "of" in rest and rest[0] == "the":
        cues["asks for the X of Y"] = 1.0
    elif rest[0] in _POSSESSIVE or any(word.endswith("'s") for word in rest[:3]):
        cues["asks for somebody's X"] = 1.0
    elif rest[0] == "the":
        cues["asks for the X"] = 1.0
    elif len(rest) <= 4 and not PREPOSITIONS.intersection(rest[1:]):
        cues["asks what a thing is, with nothing else said"] = 1.0
    elif rest[0] in ("a", "an"):
        cues["asks what a thing is"] = 1.0
    else:
        cues["asks what something is, in a setting"] = 1.0


def _shape(query: str, words: list[str], cues: dict[str, float]) -> None:
    """Add length and form."""
    plain = [word for word in words if word not in "?!:"]
    count = len(plain)
    for limit in (2, 3, 5):
        if count <= limit:
            cues[f"at most {limit} words"] = 1.0
    for limit in (12, 20, 35):
        if count > limit:
            cues[f"more than {limit} words"] = 1.0
    sentences = len(re.findall(r"[.!?]\s+\S", query))
    if sentences:
        cues["more than one sentence"] = 1.0
    if sentences > 2:
        cues["a longer text"] = 1.0
    if any(character.isdigit() for character in query):
        cues["names a number"] = 1.0
    if any(word.endswith("'s") and word not in ("it's", "that's") for word in plain):
        cues["possessive ('Bob's')"] = 1.0


def _writing(query: str, opening: list[str], cues: dict[str, float]) -> None:
    """Add how the query is written (case, final mark), and each opening together with that."""
    tokens = query.split()
    lower, asks = query == query.lower(), query.endswith("?")
    capitals = sum(token[:1].isupper() for token in tokens[1:])
    if lower:
        style = "lower case, question mark" if asks else "lower case, no question mark"
    elif len(tokens) > 3 and capitals >= 0.6 * (len(tokens) - 1):
        style = "written like a title"
    else:
        style = "usual case, question mark" if asks else "usual case, no question mark"
    if len(tokens) > 2 and tokens[0].lower() in AUXILIARIES and tokens[1][:1].isupper():
        cues["yes-no question about a name"] = 1.0
    for name, present in (
        ("ends with a question mark", asks),
        ("a capital inside", capitals > 0),
        ("ends with a full stop", query.endswith(".")),
        ("a mark set apart", query.endswith(" ?") or " 's" in query or " n't" in query),
        ("exclaims", "!" in query or "??" in query),
    ):
        if present:
            cues[name] = 1.0
    cues[style] = 1.0
    for name in opening:
        cues[f"{name}, {style}"] = 1.0


def _named_cues(
    query: str, words: list[str], core: list[str], asked: list[str], leads: set[str]
) -> dict[str, float]:
    """Return the cues of a query whose words are at hand."""
    opening: dict[str, float] = {f"lead: {lead}": 1.0 for lead in leads}
    _opening(core, opening)
    if asked:
        opening["sets a scene first"] = 1.0
        _opening(asked, opening)
    found = set(core)
    if core[0] not in QUESTION_WORDS and found.intersection(QUESTION_WORDS):
        opening["a question word later on"] = 1.0
    if core[0] == "the" or not (
        core[0] in AUXILIARIES or core[0] in QUESTION_WORDS or found & AUXILIARIES or len(core) > 6
    ):
        opening["no verb, like a search"] = 1.0
    if "why" in found:
        opening["asks why"] = 1.0
    rest: dict[str, float] = {}
    for name, members in CLASSES.items():
        hits = len(found & members)
        if hits:
            rest[f"a word of '{name}'"] = 1.0
        if hits > 1:
            rest[f"several words of '{name}'"] = 1.0
    _shape(query, words, rest)
    # Together they say what neither says alone: "who is" with a word of judgement asks for an opinion.
    together = {f"{first}, with {second}": 0.5 for first in opening for second in rest}
    cues = opening | rest | together
    _writing(query, list(opening), cues)
    return cues


def query_cues(query: str) -> dict[str, float]:
    """Return the named cues of a query; a cue that is absent is absent from the mapping.

    Example:
        >>> "asks for the X of Y" in query_cues("What is the capital of Peru?")
        True
    """
    words = words_of(query)
    if not words:
        return {}
    core, leads = _strip_leads(words)
    return _named_cues(query.strip(), words, core, _asked_last(query.strip()), leads)


def _word_pieces(words: list[str], core: list[str], asked: list[str]) -> dict[str, float]:
    """Return word n-grams (those that open and close the request marked) and letter n-grams, each scaled."""
    runs = list(words)
    for size in (2, 3):
        runs.extend(" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    for opening in (core, asked):
        runs.extend("^ " + " ".join(opening[:size]) for size in range(1, min(3, len(opening)) + 1))
    runs.append(core[-1] + " $")
    pieces = dict.fromkeys((f"word {run}" for run in runs), 1.5 / len(runs) ** 0.5)
    letters: list[str] = []
    for word in words:
        padded = f" {word} "
        for size in (3, 4, 5):
            letters.extend(padded[i : i + size] for i in range(len(padded) - size + 1))
    weight = 1.5 / max(1, len(letters)) ** 0.5
    for run in letters:
        name = f"letters {run}"
        pieces[name] = pieces.get(name, 0.0) + weight
    return pieces


def query_features(query: str) -> dict[str, float]:
    """Return everything the default router sees of a query: its cues and its word pieces, by name.

    Of a text longer than 2,000 characters only the beginning and the end are read.
    """
    text = query.strip()
    if len(text) > _LONGEST_READ:
        text = f"{text[: _LONGEST_READ * 3 // 4]} {text[-_LONGEST_READ // 4 :]}"
    words = words_of(text)
    if not words:
        return {}
    core, leads = _strip_leads(words)
    asked = _asked_last(text)
    return _named_cues(text, words, core, asked, leads) | _word_pieces(words, core, asked)
