"""Short chats of people of many kinds: what is stored of them, and what is answered later.

Written before the rules were tried on it; a share is asserted, not each line. At first sight 21 of 35 facts
were stored, 10 unexpected, and 27 of 44 questions answered rightly, 9 wrongly.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ko_integrations import KnowledgeStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

DIALOGUES = json.loads((Path(__file__).parent / "chat.json").read_text(encoding="utf-8"))
"""Turns; facts "subject|predicate|object" ("/" between what will do); questions, null for what nobody told."""


def test_the_share_of_chat_that_is_understood() -> None:
    facts = stored = questions = right = wrong = 0
    for turns, expected, asked in (dialogue.values() for dialogue in DIALOGUES):
        moment = [NOW]
        with KnowledgeStore.open(":memory:", clock=lambda moment=moment: moment[0]) as store:
            for turn in turns:
                moment[0] += timedelta(minutes=3)
                store.write(turn)
            moment[0] += timedelta(minutes=3)
            known = {(ko.subject, ko.predicate, str(ko.object).lower()) for ko in store.snapshot()}
            for line in expected:
                subject, predicates, values = line.split("|")
                facts += 1
                stored += any(
                    (subject, predicate, value.lower()) in known
                    for predicate in predicates.split("/")
                    for value in values.split("/")
                )
            for question, answer in asked:
                value = store.ask(question).value
                given = {str(one).lower() for one in (value if isinstance(value, list | tuple) else [value])}
                wanted = [set(way.lower().split("+")) for way in (answer or "None").split("/")]
                questions += 1
                right += given in wanted
                wrong += given not in wanted and value is not None
    assert stored >= 0.6 * facts
    assert right >= 0.7 * questions
    assert wrong <= 2
