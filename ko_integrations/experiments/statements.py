"""Sentences, questions and slots for the experiments on understanding. All written for this package."""

from dataclasses import dataclass

__all__ = ["CORRECTIONS", "PARSING", "SCHEMA", "Correction", "Parsing", "Statement"]


@dataclass(frozen=True)
class Statement:
    """A sentence and the fact in it; `variants` are the names that models gave the predicate in the paper."""

    text: str
    subject: str
    predicate: str
    value: str
    question: str
    variants: tuple[str, ...] = ()


SCHEMA = (
    Statement("Ada Lindqvist was born in Uppsala.", "Ada Lindqvist", "birth_place", "Uppsala",
              "Where was Ada Lindqvist born?", ("was_born_in", "place_of_birth", "born_in")),
    Statement("Northwind was founded in 1987.", "Northwind", "founded_year", "1987",
              "In which year was Northwind founded?", ("founded_in",)),
    Statement("The archive is on the fourth floor.", "the archive", "floor", "fourth",
              "On which floor is the archive?", ("is_on_floor",)),
    Statement("Marek works at Contoso.", "Marek", "employer", "Contoso", "Who does Marek work for?"),
    Statement("Helene's phone number is 555-0142.", "Helene", "phone_number", "555-0142",
              "What is Helene's phone number?"),
    Statement("The capital of Veldania is Orrin.", "Veldania", "capital", "Orrin",
              "What is the capital of Veldania?"),
    Statement("Glass Harbour was written by Imre Sandor.", "Glass Harbour", "author", "Imre Sandor",
              "Who wrote Glass Harbour?"),
    Statement("Yusuf is married to Leila.", "Yusuf", "spouse", "Leila", "Who is Yusuf married to?"),
    Statement("Contoso is headquartered in Rotterdam.", "Contoso", "headquarters", "Rotterdam",
              "Where is Contoso headquartered?"),
    Statement("Priya's email is priya@contoso.example.", "Priya", "email", "priya@contoso.example",
              "What is Priya's email?"),
)  # fmt: skip
"""Ten facts, as many as the paper's extraction test (section 5.7). It names variants of three predicates."""


@dataclass(frozen=True)
class Correction:
    """A fact, what replaces it, and the question about what holds."""

    said: str
    corrected: str
    subject: str
    predicate: str
    old: str
    new: str
    question: str


CORRECTIONS = (
    Correction("Alice's phone is 555-1111.", "Alice's phone changed to 555-2222.", "Alice", "phone_number",
               "555-1111", "555-2222", "What is Alice's phone number?"),
    Correction("Bob works at Northwind.", "Bob now works at Contoso.", "Bob", "employer", "Northwind", "Contoso",
               "Where does Bob work?"),
    Correction("Carla lives in Lyon.", "Carla moved to Ghent.", "Carla", "residence", "Lyon", "Ghent",
               "Where does Carla live?"),
    Correction("Dmitri's email is dm@old.example.", "Dmitri's email is now dm@new.example.", "Dmitri", "email",
               "dm@old.example", "dm@new.example", "What is Dmitri's email?"),
    Correction("The CEO of Northwind is Ms Abara.", "The CEO of Northwind is now Mr Olsen.", "Northwind", "ceo",
               "Ms Abara", "Mr Olsen", "Who is the CEO of Northwind?"),
)  # fmt: skip


@dataclass(frozen=True)
class Parsing:
    """One case of the robustness test.

    `text` is compiled where there is one; else the fact is stored by its parts. `subject` and `predicate`
    say which slot the question must reach.
    """

    condition: str
    text: str
    subject: str
    predicate: str
    value: str
    question: str


def _clean(subject: str, predicate: str, value: str, question: str) -> Parsing:
    return Parsing("clean query", "", subject, predicate, value, question)


def _messy(subject: str, predicate: str, value: str, question: str) -> Parsing:
    return Parsing("messy query phrasing", "", subject, predicate, value, question)


def _dense(subject: str, predicate: str, value: str, text: str) -> Parsing:
    question = f"What is the {predicate.replace('_', ' ')} of {subject}?"
    return Parsing("clinical abstract", text, subject, predicate, value, question)


def _chat(subject: str, predicate: str, value: str, question: str, text: str) -> Parsing:
    return Parsing("conversational", text, subject, predicate, value, question)


def _pronoun(subject: str, predicate: str, value: str, question: str, text: str) -> Parsing:
    return Parsing("coreference", text, subject, predicate, value, question)


PARSING = (
    _clean("Erlotinib", "half_life", "36 hours", "What is the half life of Erlotinib?"),
    _clean("Marek", "employer", "Contoso", "What is the employer of Marek?"),
    _clean("patient 17", "diagnosis", "sarcoidosis", "What is the diagnosis of patient 17?"),
    _clean("Veldania", "capital", "Orrin", "What is the capital of Veldania?"),
    _clean("compound K4", "melting_point", "181 C", "What is the melting point of compound K4?"),
    _clean("the Lisbon office", "manager", "Ines Prado", "Who is the manager of the Lisbon office?"),
    _dense("Tarvexin", "half_life", "9 hours",
           "Background. Kinase inhibitors differ in exposure. Methods. Forty volunteers took part in a crossover "
           "study. Results. The half-life of Tarvexin is 9 hours. No serious adverse event was seen."),
    _dense("patient 204", "diagnosis", "IgA nephropathy",
           "We report an unusual course. Patient 204's diagnosis is IgA nephropathy. Proteinuria fell under therapy "
           "and renal function stayed stable for two years."),
    _dense("Orlimab", "target", "CD38",
           "Antibodies against plasma cells are in wide use. The target of Orlimab is CD38. Response rates in "
           "relapsed disease were encouraging."),
    _dense("compound R12", "molecular_weight", "412.5 Da",
           "A library of 900 molecules was screened. The molecular weight of compound R12 is 412.5 Da. Its "
           "solubility limited further work."),
    _dense("Keldoxin", "recommended_dose", "20 mg daily",
           "Dose finding followed a 3+3 design. The recommended dose of Keldoxin is 20 mg daily. Two patients "
           "discontinued."),
    _dense("patient 88", "tumor_size", "3 cm",
           "Staging was completed within a week. Patient 88's tumor size is 3 cm. Margins were clear at resection."),
    _chat("Tomas", "phone_number", "555-7788", "What is Tomas's phone number?",
          "hey, quick one before standup: Tomas's phone number is 555-7788. thanks!"),
    _chat("Atlas", "deadline", "March 9", "What is the deadline of Atlas?",
          "ok so I talked to finance. The deadline of Atlas is March 9. let's plan around that :)"),
    _chat("Noor", "employer", "Fabrikam", "Where does Noor work?",
          "lol small world, Noor works at Fabrikam now. we should ask her"),
    _chat("the staging database", "owner", "Jonas", "Who is the owner of the staging database?",
          "fyi the owner of the staging database is Jonas, ping him not me"),
    _chat("Lena", "favorite_color", "teal", "What is Lena's favorite color?",
          "for the gift: Lena's favorite color is teal I think. or just get a voucher"),
    _chat("Rui", "residence", "Braga", "Where does Rui live?",
          "no idea about Friday, but Rui lives in Braga so the train is fine"),
    _pronoun("Elena Marsh", "employer", "Fabrikam", "Where does Elena Marsh work?",
             "Elena Marsh joined us for lunch. She works at Fabrikam."),
    _pronoun("Viktor Hale", "birth_place", "Gdansk", "Where was Viktor Hale born?",
             "Viktor Hale gave the keynote. He was born in Gdansk."),
    _pronoun("Northwind", "ceo", "Sara Abara", "Who is the CEO of Northwind?",
             "Northwind reported its results. Its CEO is Sara Abara."),
    _pronoun("Keiko", "phone_number", "555-3321", "What is Keiko's phone number?",
             "Keiko changed teams last week. Her phone number is 555-3321."),
    _pronoun("Zorvan", "half_life", "14 hours", "What is the half-life of Zorvan?",
             "Zorvan was well tolerated. Its half-life is 14 hours."),
    _pronoun("Omar", "spouse", "Dalia", "Who is Omar's wife?",
             "I met Omar at the fair. He is married to Dalia."),
    _messy("Erlotinib", "half_life", "36 hours", "half life erlotinib??"),
    _messy("Marek", "employer", "Contoso", "who's marek with these days, workwise"),
    _messy("patient 17", "diagnosis", "sarcoidosis", "so what has patient 17 been diagnosed with again"),
    _messy("Erlotinib", "ki_for_egfr_inhibition", "0.7 nM", "Ki value of Erlotinib against EGFR"),
    _messy("Helene", "phone_number", "555-0142", "need to ring helene, digits pls"),
    _messy("Priya", "email", "priya@contoso.example", "priya e-mail addr?"),
)  # fmt: skip
"""Six cases a condition. The one messy phrasing that the follow-up quotes is among them."""
