"""Which sentences state a fact at all: not questions, suppositions, orders, or what somebody else claims."""

import re

from ko_integrations.compiler.text import FIRST_PERSON, words_in
from ko_integrations.kinds import kinds_of

__all__ = ["Denial", "corrected", "denial", "no_statement", "plain"]

_QUESTION = re.compile(
    r"^(?:so |and |but |ok(?:ay)?,? |hey,? |hi,? )?(?:what|who|whom|whose|which|where|when|why|how|is|are|was|were|am|do|does|did|can|could|will|would|"
    r"should|shall|may|might|has|have|had|isn't|aren't|doesn't|don't|didn't|won't|can't)\s+(?:i|you|we|he|she|it|they|my|your|his|her|"
    r"its|our|their|the|a|an|this|that|there|is|are|was|were|do|does|did|of|many|much|old|long|can|should|[A-Z]\w+)\b",
    re.IGNORECASE,
)
_INVERTED = re.compile(r"^(?:Is|Are|Was|Were|Do|Does|Did|Can|Could|Will|Would|Should|Has|Have|Had) \w+")
_SUPPOSED = re.compile(
    r"^(?:Had|Were|Should) (?:[A-Z]\w+|I|we|he|she|they|it|the) [^,]+, |^(?:If|Unless|Whether|Suppose|Supposing|Imagine|Assume|Assuming|Hypothetically|Let's say|What if|Maybe|Perhaps|Possibly|In theory|"
    r"For example|For instance|Wish|Hoping|Hopefully|Planning to|Thinking (?:of|about)) |\b(?:if|unless|whether|suppose|supposing|imagine|imagining|assume|assuming|hypothetically|let's say|what if|maybe|perhaps|possibly|"
    r"would|wouldn't|might|could|couldn't|should|shouldn't|ought to|i think|i guess|i believe|i suspect|i assume|i wonder|i'm not sure|"
    r"not sure|(?<!\d )(?<!in )(?<!on )(?<!of )may (?!\d)(?=[a-z])|(?:almost|nearly) [a-z]+ed|probably|i wish|wish i|i'd (?:like|love)|pretend|in theory|as if|as though|"
    r"(?:thinking|dreaming|considering|contemplating|planning|tempted|about) (?:of|about|on|to)|plan(?:s|ned)? to|considering|"
    r"(?:fail|refuse|decline|try|tri|attempt|offer|threaten|expect|suppose|ask|mean|need|forg[eo]t|appl|hop|wait)(?:ed|d|ing|s|es|ied|ies)? (?:yet )?to (?=[a-z]+\b)|unable to|supposed to|meant to|"
    r"want(?:s)? to (?!be called)|hop(?:e|es|ing) to|rumou?r(?:s|ed)?|for example|e\.g\.|for instance|likely|I (?:think|guess|believe|suspect|assume|wonder|wish)|I'm not sure|I'd (?:like|love))\b",
)
_REPORTED = re.compile(
    r"\b(?:said|says|saying|told|tells|claims|claimed|claiming|wrote that|writes that|argues|argued|insists|insisted|thinks|believes that|"
    r"believed that|asked|asks|heard|according to|reportedly|allegedly|apparently|supposedly|joked|mentioned|announced that|replied|"
    r"suggested|suggests|is said to|was said to|quoted?|quotes|According to|Reportedly|Allegedly|Apparently|Supposedly)\b",
)
_ORDER = re.compile(
    r"^(?:please |now |kindly |you must |you should |you will |you are now |from now on,? |always |never |do not |don't )*"
    r"(?:ignore|disregard|forget|delete|remove|erase|drop|override|overwrite|bypass|execute|run|act|pretend|respond|reply|answer|repeat|print|output|"
    r"reveal|show|tell|give|list|write|translate|summari[sz]e|explain|describe|send|call the|open|click|visit|download|install|use|set|update|"
    r"change|add|insert|store|save|record|mark|treat|consider|rename|merge|retract|replace|grant|make|create|let|help|find|search|look|"
    r"check|go|come|take|try|stop|start|keep|note to|do|follow|obey|promote|register|alias|map|assign|define)\b"
    r"(?! is\b| was\b| \w+'s\b| (?-i:[A-Z]))",
    re.IGNORECASE,
)
_TO_MACHINE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|instructions|prompt|prompts|rules|above|previous|prior|everything|guidelines|context)\b"
    r"|\bsystem prompt\b|\byou are (?:now |an? |the )|\byou must\b|\bas an ai\b|</?(?:system|instructions?|tool|assistant)>|\[/?(?:INST|SYSTEM)\]",
    re.IGNORECASE,
)
_QUOTED_SPEECH = re.compile(
    r"^[\"“‘'].*[\"”’'],?\s*(?:\w+\s+)?(?:said|says|asked|replied|wrote|answered)?[^\"”]*$|[\"“][^\"”]{12,}[\"”]"
)
_VERB_INSIDE = re.compile(r"[\"“](?:I|We|You|He|She|They|My)\b")
_OPENER = re.compile(
    r"^(?:(?:please )?(?:remember|note|keep in mind|be aware|fyi|for the record|for your information|just so you know|btw|by the way|ps|p\.s\.|"
    r"just to let you know|let me tell you|i want you to know|you should know|heads[- ]up|(?:meeting |call |stand-?up )?(?:notes|minutes|recap)|update|correction|reminder|background|methods|results|conclusions?|objective|discussion|summary|findings|note|fun fact|in fact|as a matter of fact|"
    r"good news|bad news|quick note|important|decisions?(?=:)|agreed(?=:)|action item)\b(?: that)?[:,]?|(?:oh|well|ok|okay|so|hi|hey|hello|yes|yeah|yep|no|nope|sorry|oops|right|sure|thanks|thank you|actually|hmm|ah|"
    r"also|and|but|anyway|indeed|no wait|wait|my bad|correction|scratch that|strike that|actually no|i mean|hang on|hold on|plus|additionally|moreover|furthermore|meanwhile|unfortunately|sadly|luckily|fortunately|happily)(?: (?:there|all|everyone|team|again|guys|folks))?[,!.:]|"
    r"(?:and|but|so|also|actually|well|plus|ok|okay|oh|hey|hi|yeah|yes|no|btw|fyi) (?=(?:and|so|well|but) |(?:i(?! (?-i:[A-Z]))|my|we|our|he|she|it|they|his|her|its|their|the)\b)|(?:it turns out|turns out|we know|it is known|everyone knows|it is a fact|the fact is|as you know|i can confirm|i confirm|i'd like to note|i should mention|i must say|i have to say) that?[, ]?)\s*",
    re.IGNORECASE,
)


_SPELLINGS = {
    "im": "I'm", "ive": "I've", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't",
    "cant": "can't", "wont": "won't", "thats": "that's", "hes": "he's", "shes": "she's", "theyre": "they're",
}  # fmt: skip
_LOOSE = frozenset(form for word in _SPELLINGS for form in (word, word.capitalize()))
_UNSPELT = re.compile(
    rf"\b(?:{'|'.join(word for word in _SPELLINGS if word not in ('im', 'ive'))})\b|(?:^|(?<=and )|(?<=but )|(?<=now )|(?<=hey )|(?<=hi )|(?<=hello )|(?<=[,!.] ))(?:im|ive)\b",
    re.IGNORECASE,
)
_HAS_CHANGED = re.compile(r"['’]s (?:now |just )?changed to ")
_PRESENTED = re.compile(r"^(?:[Ii]t['’]?s|[Tt]his is) \w+(?: here)?, (?=I['’ ])")
_SHORT_FORMS = {"u": "you", "ur": "your", "n": "and", "r": "are"}
_SHORT = re.compile(r"\b(?<!\.)(?:ur?|(?<=[a-z] )[nr](?= [a-z]))(?![\w.])")
_DROPPED_I = re.compile(
    r"^(?:[Jj]ust|[Ff]inally|[Rr]ecently) (?=(?:moved|started|joined|got|bought|turned|became|switched|quit|adopted|graduated|finished|married) )"
)
_NOUN_IS = re.compile(
    r"^(?P<noun>(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur) (?:[a-z]+ )?(?:name|number|phone|email|birthday|address|job|age|surname|nickname|boss|wife|husband|doctor|dog|cat|car))['’]s (?=[A-Z\d+]\S*(?: [A-Z\d]\S*)*[.!]*$)"
)
_CHANGED = re.compile(
    r"^(?P<owner>(?:[Mm]y|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur|[A-Z].*['’]s) [a-z][a-z ]*?) (?:has |have )?changed[,;:]? (?:it['’]s|it is|and is|and it['’]s) (?:now )?(?P<value>\S.*)$"
)
_INTRODUCED = re.compile(
    r"^(?:I am|I['’]?m|[Ii]t['’]?s|[Tt]his is|[Ii]ts) (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})(?: here| speaking)?[.!]*$"
)
_CORRECTION_WORDS = frozenset(
    form
    for word in "meant mean wrong misspoke wait sorry oops correction typo".split()
    for form in (word, word.capitalize())
)
_FOUND_TO_BE = re.compile(r"\b(is|was|are|were) (?:found|shown|determined|measured|estimated|known) to be\b")
_ADVERB = re.compile(r"^(?P<adverb>[A-Z][a-z]+ly), (?P<head>.+?) (?P<be>is|was|are|were) (?P<rest>.+)$")
_CALL_ME = re.compile(
    r"^(?:(?:please|just|you can|you may|everyone can|feel free to) )*[Cc]all me (?P<name>[^\W\d_][^,.;!?]{0,60}?)(?: from now on| instead| please)?[,.;!]*$",
    re.IGNORECASE,
)


_EVIDENCE = re.compile(
    r"^(?:(?:the|a|an|his|her|their|post-\w+|follow-up|repeat|recent|latest|new) )*(?:[\w-]+ ){0,2}?(?:scans?|tests?|results?|exam|examination|imaging|data|records?|mri|ct|x-ray|"
    r"ultrasound|labs?|bloodwork|report|analysis) (?:shows?|showed|reveals?|revealed|demonstrated?|indicates?|indicated|confirms?|confirmed|found) (?:that )?(?=(?:the |a |an |his |her |their |(?:[^\W\d_]\.|[A-Z][\w.'’-]* ){1,3}?\S*['’]s )?[\w-]+ (?:\w+ed|is|was|has|of) |\S+['’]s [\w-]+ (?:\w+ed|is|was|has|of) )",
    re.IGNORECASE,
)
"""A finding told with the test that found it ("the scan shows that ...")."""


_CORRECTING = re.compile(
    r"^(?:(?:no|nope|sorry|oops|whoops|wait|hm+|ah|argh|ugh|actually|correction|scratch that|my mistake|my bad|typo)[,.!:—– -]+|(?:no|sorry|oops|wait|actually) )*"
    r"(?:(?:sorry|no|oops|wait|correction|typo|my bad|my mistake|scratch that)\b[,.!:—– -]*|(?:i|what i) (?:meant|mean)(?: to (?:say|write|type))?(?: (?:is|was))?(?: that)?[:, ]+"
    r"|i (?:got|had|wrote|typed|said) (?:that|it|this) wrong[:,.]*|i misspoke[:,.]*)\s*(?=\S)",
    re.IGNORECASE,
)
_GOT_DONE = re.compile(
    r"\b(?:(?:has|have|had) )?(?:just |recently |finally )?(?:got|gotten) (?=(?:diagnosed|promoted|hired|elected|appointed|transferred|certified|recruited|named)\b)"
)
_PARTICLES = re.compile(
    r"(?:[\s,]+(?:tho|though|ugh|sry|pls|plz|haha+|hehe|lol|lmao|tbh|ngl|imo|imho|innit|fr|btw|fwiw|yay|eek)|[\s,]*[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200D]+|[ ]+(?:[:;]-?[)DPp(]|<3|xx?))+(?=[.!]*$)",
    re.IGNORECASE,
)
"""What chat puts after a sentence: particles, emoji, smileys."""


def corrected(text: str) -> str | None:
    """Return what follows the words of a correction ("no wait, ...", "sorry, I meant ..."), or None.

    >>> corrected("No, I meant my email is a@example.org")
    'my email is a@example.org'
    """
    match = _CORRECTING.match(text)
    return text[match.end() :] if match else None


class Denial(str):
    """The affirmative wording of a statement that was denied or ended ("I no longer work at X")."""

    __slots__ = ()


def plain(text: str) -> str:
    """Return the sentence without openers such as "Actually," or "Just so you know that", "=" and "im" spelt out."""
    if not _LOOSE.isdisjoint(words_in(text)) or "=" in text:
        text = _UNSPELT.sub(lambda match: _SPELLINGS[match[0].lower()], text).replace(" = ", " is ")
    text = _SHORT.sub(lambda match: _SHORT_FORMS[match[0]], text)
    text = _without_particles(text).replace(" w/ ", " with ")
    if _CORRECTION_WORDS.intersection(words_in(text)) and (said := corrected(text)):
        text = said
    if " to be" in text:
        text = _FOUND_TO_BE.sub(r"\1", text)
    if "got" in text:
        text = _GOT_DONE.sub("was ", text)
    for _ in range(4):
        match = _OPENER.match(text)
        if match is None or match.end() == len(text):
            break
        text = text[match.end() :]
    if found := _EVIDENCE.match(text):
        text = text[found.end() :]
        text = text[0].upper() + text[1:]
    if match := _ADVERB.match(text):
        text = f"{match['head']} {match['be']} {match['adverb'].lower()} {match['rest']}"
    changed = " changed" in text
    text = _PRESENTED.sub("", text)
    if changed:
        text = _HAS_CHANGED.sub(" changed to ", text)
    text = _DROPPED_I.sub("I ", _NOUN_IS.sub(r"\g<noun> is ", text))
    if changed and (match := _CHANGED.match(text)):
        text = f"{match['owner']} is {match['value']}"
    if match := _CALL_ME.match(text):
        return f"My name is {match['name']}"
    if (match := _INTRODUCED.match(text)) and "person" in kinds_of(match["name"]):
        return f"My name is {match['name']}"
    return (
        text[:1].upper() + text[1:] if text[:1].islower() and text.split(" ", 1)[0] in FIRST_PERSON else text
    )


def _without_particles(text: str) -> str:
    """Return a sentence without the particles at its end; where its last word is none, it is left unsearched."""
    last = max(text.rfind(" "), text.rfind(","), 0)
    return _PARTICLES.sub("", text) if _PARTICLES.search(text, last) else text


_MACHINE_WORDS = frozenset(
    "ignore Ignore disregard Disregard forget Forget override Override bypass Bypass prompt Prompt you You ai AI IGNORE DISREGARD FORGET OVERRIDE".split()
)
_MOODY = frozenset(
    "Had Were Should almost nearly probably failed fails refused refuses declined tried trying tries attempted offered threatened expected supposed asked meant "
    "forgot unable hoping hoped waiting need needs If Unless Whether Suppose Supposing Imagine Assume Assuming Hypothetically Let's What Maybe Perhaps Possibly In For Wish Hoping Hopefully "
    "Planning Thinking if unless whether suppose supposing imagine imagining assume assuming hypothetically let's maybe perhaps possibly would "
    "wouldn't might could couldn't should shouldn't ought think guess believe suspect wonder sure may wish I'd like love pretend theory though "
    "thinking dreaming considering contemplating planning tempted about plan plans planned want wants hope hopes hoping rumor rumour rumored "
    "rumoured rumors rumours example instance e g likely said says saying told tells claims claimed claiming wrote writes argues argued insists "
    "insisted thinks believes believed asked asks heard according reportedly allegedly apparently supposedly joked mentioned announced replied "
    "suggested suggests quote quoted quotes According Reportedly Allegedly Apparently Supposedly".split()
)
"""Words without one of which no sentence is a supposition or a report."""


def no_statement(text: str) -> str | None:
    """Return why a sentence states no fact, or None if it may."""
    stripped = text.strip().strip("\"'“”")
    if (
        text.rstrip(" \"'”)").endswith(("?", "？"))
        or _QUESTION.match(stripped)
        or _INVERTED.match(stripped)
        and "," not in stripped[:20]
    ):
        return "a question"
    to_machine = not _MACHINE_WORDS.isdisjoint(words_in(text)) or "[" in text or "<" in text
    if to_machine and _TO_MACHINE.search(text):
        return "an instruction"
    if _ORDER.match(stripped) or stripped.startswith(("to ", "To ")):
        return "an instruction"
    if text.lstrip()[:1] in '"“' and text.rstrip(" .!")[-1:] in '"”' and len(text.split()) > 3:
        return "a quotation"
    if ('"' in text or "“" in text) and _VERB_INSIDE.search(text):
        return "a quotation"
    if _MOODY.isdisjoint(words_in(text)):
        return None
    if _REPORTED.search(text):
        return "what somebody else says"
    if _SUPPOSED.search(text):
        return "a supposition"
    return None


_ENDED = (
    (re.compile(r"\b(?:is|are|am|was|'s|'m|'re) no longer\b", re.IGNORECASE), "is"),
    (
        re.compile(
            r"\b(?:no longer|don't|doesn't|do not|does not|didn't|did not) (?P<verb>\w+)(?P<rest>.*?)(?: any ?more| any longer)?(?=[.!]?$)",
            re.IGNORECASE,
        ),
        None,
    ),
)
_NOT_BE = re.compile(
    r"\b(?P<be>is|are|am|was|were|'s|'m|'re)(?:n't| not)\b(?P<rest>.*?)(?: any ?more| any longer)?(?=[.!]?$)",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"\b(?:have |has |had )?(?:stopped|quit|ceased|gave up|given up) (?P<verb>\w+)ing\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:have |has )?(?:left|quit|resigned from|been fired from|was fired from|got fired from|was laid off from|retired from) (?:my job (?:at|with) |his job (?:at|with) |her job (?:at|with) )?(?P<rest>[A-Z].*)$"
)
_LEFT_OFFICE = re.compile(
    r"(?:(?:has|have|had|was|were|been|is) )*(?:resigned|stepped down|retired|fired|removed|dismissed|sacked|ousted) as (?:the )?(?P<rest>.+)$"
)
_USED_TO = re.compile(r"\bused to (?P<verb>\w+)", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:former|ex-|previous|late)\b ?", re.IGNORECASE)


def _third(verb: str) -> str:
    """The form of a verb after any subject; a bare one could be taken for a noun."""
    return (
        verb
        if verb == "be" or verb.endswith("s")
        else f"{verb}es"
        if verb.endswith(("sh", "ch", "o"))
        else f"{verb}s"
    )


def denial(text: str) -> Denial | None:
    """Return the affirmative of a statement that denies or ends something, or None.

    >>> str(denial("I no longer work at Acme"))
    'I works at Acme'
    """
    if match := _ENDED[0][0].search(text):
        return Denial(f"{text[: match.start()]} is{text[match.end() :]}".replace("  ", " "))
    if match := _STOPPED.search(text):
        return Denial(f"{text[: match.start()]}{_third(match['verb'])}{match['rest']}")
    if match := _LEFT.search(text):
        return Denial(f"{text[: match.start()]}worked at {match['rest']}")
    if match := _LEFT_OFFICE.search(text):
        return Denial(f"{text[: match.start()]}is {match['rest']}")
    if match := _USED_TO.search(text):
        if re.match(r"(?:is|was|are|be)\b", text[: match.start()].rsplit(" ", 2)[-1]):
            return None
        return Denial(f"{text[: match.start()]}{_third(match['verb'])}{text[match.end() :]}")
    if match := _ENDED[1][0].search(text):
        return Denial(f"{text[: match.start()]}{_third(match['verb'])}{match['rest']}{text[match.end() :]}")
    if match := _NOT_BE.search(text):
        return Denial(
            f"{text[: match.start()]} {match['be'].lstrip(chr(39))}{match['rest']}".replace(" m ", " am ")
            .replace(" s ", " is ")
            .replace("  ", " ")
        )
    return None
