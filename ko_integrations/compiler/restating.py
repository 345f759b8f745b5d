"""One event told in another construction of English, said again in the one that the forms are written for.

English has pairs of constructions that say the same: "we moved the call to ten" and "the call moved to ten" (the
causative alternation), "the owner is A instead of B" and "the owner is A", "20 mg of X" and "an X dose of 20 mg".
Each rule here is one such pair. Nothing is added that the sentence does not entail.
"""

import re

from ko_integrations.kinds import kinds_of

__all__ = ["caused", "positive"]

_DETERMINER = r"(?:the|my|our|his|her|their|its)"
_CAUSED = re.compile(
    rf"^(?:(?:[Ww]e|[Tt]hey|I|[Ss]omeone|[Ss]omebody|[Yy]ou)(?:['’](?:ve|d)| have| had)?)(?: just| now| finally| recently)? "
    rf"(?P<verb>moved|shifted|pushed|postponed|rescheduled|delayed|brought forward|changed|switched|updated|reset|set|raised|lowered|increased|reduced|cut)"
    rf"(?: back| forward| up| down)? (?P<what>(?:{_DETERMINER} )?[a-z][a-z -]*?(?: [A-Z]{2, 5})?)(?: from (?P<old>[^,;]+?))? to (?P<new>[^,;]+?)(?: now| instead)?$"
)
"""Somebody made something change: what changed is the object, and who did it is left out."""
_RESCHEDULING = frozenset(
    ("moved", "shifted", "pushed", "postponed", "rescheduled", "delayed", "brought forward")
)
_CLOCK = re.compile(r"^(?:noon|midnight|\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?)$", re.IGNORECASE)
_EXCLUDED = re.compile(
    r"(?P<list>\b[^,;]+?),? but (?:no|not|neither|never)(?: any)? (?P<out>[^\s,;]+(?: [^\s,;]+){0,2})$"
)
"""A coordination whose last member is denied: "Finnish and Dutch, but no Danish"."""
_REPLACED = re.compile(
    r"(?:,? now)?,? (?:instead of|in place of) (?P<old>[^,;]+?)(?= and (?:he|she|it|they|we|I)\b|[,;]|$)"
)
_PREFERRED = re.compile(
    r"^(?P<head>.*?\bprefer(?:s|red)?) (?P<first>(?!to )[^,;]+?) (?:to|over|rather than) (?P<second>[^,;]+)$"
)
_GERUND = re.compile(r"^[a-z]+ing\b")
_BELONGS = re.compile(r"^(?P<what>[^,;]+?) belongs to (?P<owner>(?:the )?[A-Z][^,;]*)$")
_FIRM = re.compile(
    r"\b(?:Group|Holdings?|Corporation|Corp|Company|Inc|Ltd|Limited|LLC|GmbH|AG|SE|plc|PLC|Partners|Capital|Investments|Equity|Ventures)\.?$"
)
"""What the name of a business ends with: what belongs to one is owned by it, while one is a member of a league."""
_AMOUNT = r"(?:\d[\d.,]*|half an?|an?|one|two|three) ?(?:mg|mcg|µg|g|ml|iu|units?|tablets?|pills?|drops?|puffs?|capsules?)"
_MEASURED_OUT = re.compile(
    rf"^(?P<who>\S+(?: \S+){{0,2}}?) (?P<verb>take|takes|took|get|gets|receives?|am on|is on|was (?:given|prescribed)) (?P<amount>{_AMOUNT})(?: (?P<often>daily|twice daily|a day|per day))?(?: of)? (?P<what>[a-z][a-z-]+)(?P<rest>(?: .*)?)$",
    re.IGNORECASE,
)
"""A partitive: an amount of a drug is the drug, and its dose."""


def positive(text: str) -> list[str]:
    """Return the clauses that a sentence asserts, without what it names only to exclude it.

    >>> positive("I speak Finnish and Dutch, but no Danish")
    ['I speak Finnish and Dutch']
    >>> positive("I prefer rye to wheat")
    ['I prefer rye']
    """
    text = _REPLACED.sub("", text) if " of " in text else text
    if " but " in text and (excluded := _EXCLUDED.search(text)):
        text = excluded["list"]
    preferred = _PREFERRED.match(text) if "prefer" in text else None
    if preferred and _are_parallel(preferred["first"], preferred["second"]):
        text = f"{preferred['head']} {preferred['first']}"
    belonging = _BELONGS.match(text) if " belongs " in text else None
    if belonging and _FIRM.search(belonging["owner"]) and "person" not in kinds_of(belonging["what"]):
        text = f"{belonging['what']} is owned by {belonging['owner']}"
    return _measured_out(text)


def _are_parallel(first: str, second: str) -> bool:
    """Whether two phrases are of one build, as compared ones are: "swimming to running", not "going to the gym"."""
    return bool(_GERUND.match(first)) == bool(_GERUND.match(second))


def _measured_out(text: str) -> list[str]:
    """Part "take 20 mg of X daily" into that X is taken and the dose of it."""
    match = _MEASURED_OUT.match(text)
    if match is None or "drug" not in kinds_of(match["what"].lower()):
        return [text]
    who, what = match["who"], match["what"]
    owner = "My" if who == "I" else f"{who}'s"
    return [f"{who} {match['verb']} {what}{match['rest']}", f"{owner} {what} dosage is {match['amount']}"]


def caused(text: str) -> list[str]:
    """Return "the X changed to Y" for "we changed the X to Y"; nothing where nobody makes anything change.

    >>> caused("We moved the review to Monday"), caused("They changed the gate code to 7710")
    (['The review was moved to Monday'], ['The gate code is 7710'])
    """
    match = _CAUSED.match(text)
    if match is None:
        return []
    what = match["what"] if re.match(rf"{_DETERMINER} ", match["what"]) else f"the {match['what']}"
    what = what[0].upper() + what[1:]
    if match["verb"] not in _RESCHEDULING:
        return [f"{what} is {match['new']}"]
    if _CLOCK.match(match["new"]):
        hour = f"{match['new']}:00" if match["new"].isdigit() else match["new"]
        return [f"{what} is at {hour}"]
    return [f"{what} was moved to {match['new']}"]
