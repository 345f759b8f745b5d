"""Word forms of English: enough to see that `has_phone_numbers` and `phone_number` are one name.

Only inflection is undone (number, tense, British and American spelling), never derivation: "founder" and
"founded" stay apart, because one names a person and the other a moment. A general stemmer conflates more
("organ" and "organisation"), and a wrong merge of two predicates costs more than a missed one.
"""

import re
from functools import lru_cache

__all__ = ["ARTICLES", "BE", "HAVE", "PAST_FORMS", "PREPOSITIONS", "is_bare", "is_participle", "lemma"]

BE = frozenset("be is are am was were been being 's 're 'm isn't aren't wasn't weren't".split())
HAVE = frozenset("have has had having".split())
ARTICLES = frozenset(("a", "an", "the"))
PREPOSITIONS = frozenset(
    "in at on by for to from with as of after into about under near against upon through within over".split()
)

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is are am was were been being",
        "have": "has had having",
        "do": "does did done",
        "go": "goes went gone",
        "write": "wrote written",
        "sing": "sang sung",
        "speak": "spoke spoken",
        "make": "made",
        "take": "took taken",
        "give": "gave given",
        "get": "got gotten",
        "hold": "held",
        "buy": "bought",
        "build": "built",
        "sell": "sold",
        "lead": "led",
        "leave": "left",
        "begin": "began begun",
        "become": "became",
        "come": "came",
        "run": "ran",
        "rise": "rose risen",
        "lie": "lying",
        "die": "dying dies died",
        "draw": "drew drawn",
        "choose": "chose chosen",
        "teach": "taught",
        "think": "thought",
        "wear": "wore worn",
        "eat": "ate eaten",
        "drive": "drove driven",
        "fall": "fell fallen",
        "find": "finds found",
        "found_": "founded founding founds",
        "fight": "fought",
        "know": "knew known",
        "grow": "grew grown",
        "win": "won",
        "stand": "stood",
        "sit": "sat",
        "spend": "spent",
        "shoot": "shot",
        "meet": "met",
        "lose": "lost",
        "pay": "paid",
        "say": "said",
        "tell": "told",
        "keep": "kept",
        "learn": "learnt",
        "shrink": "shrank shrunk",
        "swear": "swore sworn",
        "breathe": "breathed breathing",
        "arise": "arose arisen",
        "see": "saw seen",
        "show": "shown",
        "child": "children kids kid",
        "person": "people persons",
        "life": "lives_",
        "wife": "wives",
        "city": "cities",
        "center": "centre centres",
        "license": "licence licences",
        "program": "programme programmes",
        "mom": "mum mummy mommy",
        "catalog": "catalogue",
        "theater": "theatre",
        "gray": "grey",
        "practice": "practise practises practised practising",
        "defense": "defence",
        "jewelry": "jewellery",
        "skeptical": "sceptical",
        "check": "cheque",
        "diagnosis": "diagnoses",
        "analysis": "analyses",
        "thesis": "theses",
        "crisis": "crises",
    }.items()
    for form in forms.split()
}
_OUR = re.compile(r"(col|fav|hon|neighb|tum|lab|harb|behavi|flav|rum|arm|hum|endeav)our")
_ISE = re.compile(r"(is)(e|es|ed|ing|ation|ations|er|ers)$")
_ISE_ROOTS = re.compile(
    r"^(organ|special|recogn|real|character|categor|general|author|nationa?l|visual|optim|capital|immun|hospital|"
    r"natural|util|summar|standard|modern|civil|colon|critic|local|minim|maxim|normal|personal|digit)is"
)
_DOUBLED = re.compile(r"([bdfgklmnprstvz])\1$")
_KEEPS_DOUBLE = ("ll", "ss", "zz", "ff")
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=16_384)
def lemma(word: str) -> str:
    """Return a key under which the inflected forms and both spellings of `word` (lower case) agree.

    The key is not always a word: a final `e` is dropped and a final `y` becomes `i`. "found" is taken for
    the past of "find", "founded" for that of "to found".

    >>> lemma("studies") == lemma("studied") and lemma("colours") == lemma("color")
    True
    >>> lemma("founder") == lemma("founded")
    False
    """
    word = _IRREGULAR.get(word, word)
    if not word.isascii() or len(word) < 4 or not word.isalpha():
        return word
    word = _OUR.sub(r"\1or", word)
    if _ISE_ROOTS.match(word):
        word = _ISE.sub(r"iz\2", word)
    word = _singular(word)
    for suffix in ("ing", "ed"):
        stem = word[: -len(suffix)]
        if word.endswith(suffix) and len(stem) >= 3 and _VOWEL.search(stem) and not word.endswith("eed"):
            word = _IRREGULAR.get(stem, stem)
            if _DOUBLED.search(word) and (len(word) > 4 or not word.endswith(_KEEPS_DOUBLE)):
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("ll"):  # "enroll" and "enrol" are one word, "tell" and "tel" are two
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return _IRREGULAR.get(word[:-1], word[:-1])
    if word.endswith("ied"):
        return word[:-3] + "y"
    return word


def is_bare(word: str) -> bool:
    """Return whether a lower-case verb stands without an ending: "make", not "makes" or "made"."""
    return word not in _IRREGULAR and not word.endswith(("s", "ed", "ing"))


def is_participle(word: str) -> bool:
    """Return whether `word` looks like a past participle ("founded", "written", "born")."""
    return word.endswith("ed") or word in _PARTICIPLES


_PARTICIPLES = frozenset(
    "born written sung spoken made taken given held bought built sold led begun drawn chosen taught worn eaten "
    "driven known grown won shot met paid kept shown set found wed".split()
)

PAST_FORMS = frozenset(
    "wrote sang spoke made took gave got held bought built sold led left began became came ran rose died drew "
    "chose taught thought wore ate drove fell fought knew grew won stood sat spent shot met lost paid kept "
    "learnt went had did was were found wed".split()
)
"""Past forms that do not end in "-ed"."""
