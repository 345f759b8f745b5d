"""What the workload says and asks: predicates, their sentences and questions, and pools of made-up values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

__all__ = ["ABSENT", "GIVEN_NAMES", "SETS", "SINGLES", "STRANGERS", "SUBJECT_SURNAMES", "Template", "values"]


@dataclass(frozen=True)
class Template:
    """One predicate: the name it is stored under, how it is stated, how people ask for it.

    `pool` is a pair of lists; a value is one word of each, joined by `joint`. Lists of different predicates
    share no word, so that a value is recognised in a text by looking for it.
    """

    predicate: str
    statement: str
    questions: tuple[str, ...]
    pool: tuple[Sequence[str], Sequence[str]]
    joint: str = " "
    many: bool = False


GIVEN_NAMES = (
    "Ada Bruno Carla Dmitri Elena Farid Greta Hassan Ingrid Jonas Katya Leandro Mirela Nadia Oskar Priya Quentin Rosa "
    "Stellan Tamsin Umar Vera Wendell Ximena Yusuf Zelda"
).split()
SUBJECT_SURNAMES = (
    "Abernathy Borowski Castellan Duarte Eklund Fairweather Grimaldi Hollander Ishikawa Jablonski".split()
)
STRANGERS = (
    "Cosima Vandermeer", "Ludo Achterberg", "Philippa Nwosu", "Tobias Rautio", "Imogen Szabo", "Casper Oyelaran",
    "Beatrix Lindholm", "Ruben Tchaikovsky",
)  # fmt: skip

_SALES = "Aldous Bettina Clement Dorothea Everard Felicity Gideon Harriet Ivo Jemima Konrad Lavinia".split()
_MANAGERS = (
    "Pemberton Quillfeather Ravenscroft Silvestri Thistlewood Underhill Valcourt Whitlock Yardley Zeller"
).split()
_TEETH = "Amaro Birgitta Cedric Delphine Ernesto Fiora Gunnar Hedwig Isidor Josepha Kasimir Ludmila".split()
_DENTISTS = (
    "Ackroyd Brandvold Cornelisz Drummond Esterhazy Fontaine Gorringe Haverford Inglethorp Jessop".split()
)
_HOSTS = "northmail postbox letterly inboxed sendwell mailwright dove quill envoy relay".split()
_SIGNS = "Gilded Rusty Laughing Silent Wandering Velvet Salty Crooked Humble Merry Sleepy Golden".split()
_NUMBERS = [f"{number:03d}" for number in range(204, 324)]

SINGLES: tuple[Template, ...] = (
    Template(
        "lives_in",
        "{s} lives in {v}.",
        (
            "Where does {s} live?",
            "Where is {s} living now?",
            "Which town does {s} live in?",
            "Do you know where {s} lives these days?",
        ),
        (
            "Elder Nor Thorn Ash Wester Kil Brack Stone Marl Heather Fern Oak".split(),
            "haven bridge wick mouth dale minster combe stead ley ford".split(),
        ),
        joint="",
    ),
    Template(
        "works_for",
        "{s} works for {v}.",
        (
            "Who does {s} work for?",
            "Which company does {s} work for now?",
            "Who is {s}'s employer?",
            "Where does {s} work these days?",
        ),
        (
            "Bramwell Lindqvist Okafor Tarrant Novotny Penhaligon Rousseau Sakamoto Varga Wexford Yilmaz Zorn".split(),
            "Optics Logistics Ceramics Robotics Textiles Shipping Analytics Bakeries Aviation Printing".split(),
        ),
    ),
    Template(
        "phone_number",
        "{s}'s phone number is {v}.",
        (
            "What is {s}'s phone number?",
            "What number can I reach {s} on?",
            "Can you give me {s}'s phone number?",
            "What's the current phone number of {s}?",
        ),
        (["0161-555"], _NUMBERS),
        joint="-",
    ),
    Template(
        "email",
        "{s}'s email address is {v}.",
        (
            "What's {s}'s email address?",
            "Where can I email {s}?",
            "Which email address does {s} use now?",
            "Do you have an email address for {s}?",
        ),
        (
            "maple falcon harbour copper juniper lantern meadow pepper quartz saffron tundra willow".split(),
            [f"{host}.example" for host in _HOSTS],
        ),
        joint="@",
    ),
    Template(
        "manager",
        "{s} reports to {v}.",
        (
            "Who does {s} report to?",
            "Who is {s}'s manager?",
            "Who is {s}'s boss at the moment?",
            "Remind me who {s}'s manager is.",
        ),
        (_SALES, _MANAGERS),
    ),
    Template(
        "drives",
        "{s} drives a {v}.",
        (
            "What car does {s} drive?",
            "What does {s} drive these days?",
            "Which car does {s} have now?",
            "What kind of car is {s} driving?",
        ),
        (
            "Corvane Tavra Meridiel Solenne Brakka Ventori Kestara Orlume Pallas Rendova Sirocca Ulvane".split(),
            "Estate Coupe Roadster Hatchback Saloon Pickup Cabriolet Crossover Minivan Sprinter".split(),
        ),
    ),
    Template(
        "bank",
        "{s} banks with {v}.",
        (
            "Which bank does {s} use?",
            "Who does {s} bank with?",
            "What is {s}'s bank?",
            "Which bank is {s} with at present?",
        ),
        (
            (
                "Northgate Larkspur Tideway Granite Bellweather Corinth Drayton Eastvale Fenwick Highmoor "
                "Ironbridge Kingsmere"
            ).split(),
            "Savings Trust Mutual Credit Holdings Building Provident Commercial Cooperative Merchant".split(),
        ),
    ),
    Template(
        "dentist",
        "{s}'s dentist is {v}.",
        (
            "Who is {s}'s dentist?",
            "Which dentist does {s} go to?",
            "What's the name of {s}'s dentist?",
            "Who is {s}'s current dentist?",
        ),
        (_TEETH, _DENTISTS),
    ),
    Template(
        "subscription_plan",
        "{s} is on the {v} plan.",
        (
            "Which plan is {s} on?",
            "What subscription does {s} have?",
            "What plan is {s} currently subscribed to?",
            "What's {s}'s subscription plan?",
        ),
        (
            "Cobalt Amber Crimson Indigo Jade Onyx Pearl Ruby Sapphire Topaz Violet Ivory".split(),
            "Basic Plus Premium Family Student Starter Pro Ultra Lite Max".split(),
        ),
    ),
    Template(
        "favourite_restaurant",
        "{s}'s favourite restaurant is {v}.",
        (
            "What is {s}'s favourite restaurant?",
            "Which restaurant does {s} like best?",
            "What restaurant is {s}'s favourite at the moment?",
            "Do you know {s}'s favourite restaurant?",
        ),
        (
            [f"The {word}" for word in _SIGNS],
            "Heron Anchor Lobster Badger Kettle Magpie Otter Radish Turnip Walnut".split(),
        ),
    ),
    Template(
        "job_title",
        "{s} works as a {v}.",
        (
            "What does {s} do for a living?",
            "What is {s}'s job?",
            "What does {s} work as now?",
            "What is {s}'s current job title?",
        ),
        (
            "senior junior regional freelance assistant deputy chief trainee mobile clinical industrial marine".split(),
            "surveyor translator botanist welder bookkeeper choreographer locksmith geologist planner auditor".split(),
        ),
    ),
    Template(
        "favourite_team",
        "{s}'s favourite team is {v}.",
        (
            "Which team does {s} support?",
            "What is {s}'s favourite team?",
            "Who is {s}'s favourite team these days?",
            "Which team does {s} root for?",
        ),
        (
            "Hexham Tolland Stavely Cawdor Ruthin Penrith Lanark Dunoon Crediton Buxton Alnwick Thirsk".split(),
            "Rovers Wanderers Harriers Falcons Comets Rangers Mariners Hornets Athletic United".split(),
        ),
    ),
)  # fmt: skip

SETS: tuple[Template, ...] = (
    Template(
        "allergic_to",
        "{s} is allergic to {v}.",
        ("What is {s} allergic to?", "Which allergies does {s} have?", "What are {s}'s allergies?"),
        ("peanuts penicillin latex shellfish pollen sesame soya mustard celery lupin eggs aspirin".split(), [""]),
        joint="",
        many=True,
    ),
    Template(
        "speaks",
        "{s} speaks {v}.",
        ("What languages does {s} speak?", "Which languages can {s} speak?", "What languages does {s} know?"),
        (
            "Portuguese Finnish Swahili Korean Tagalog Welsh Basque Georgian Tamil Croatian Danish Hungarian".split(),
            [""],
        ),
        joint="",
        many=True,
    ),
    Template(
        "takes_medication",
        "{s} takes {v}.",
        ("What medication is {s} on?", "Which medicines does {s} take?", "What medication does {s} take?"),
        (
            "metformin lisinopril omeprazole sertraline warfarin salbutamol levothyroxine ramipril atorvastatin "
            "amlodipine citalopram naproxen".split(),
            [""],
        ),
        joint="",
        many=True,
    ),
    Template(
        "hobbies",
        "One of {s}'s hobbies is {v}.",
        ("What are {s}'s hobbies?", "What hobbies does {s} have?", "What does {s} do for fun?"),
        (
            "pottery fencing beekeeping origami archery calligraphy kayaking chess gardening juggling quilting "
            "birdwatching".split(),
            [""],
        ),
        joint="",
        many=True,
    ),
)  # fmt: skip

ABSENT = (
    "What is {s}'s blood type?",
    "When is {s}'s birthday?",
    "Who is {s} married to?",
    "What is {s}'s shoe size?",
    "Where was {s} born?",
    "How tall is {s}?",
)
"""Questions that no statement of the workload answers."""


def values(template: Template) -> list[str]:
    """Return every value of a template's pool.

    >>> values(SINGLES[0])[:2]
    ['Elderhaven', 'Elderbridge']
    """
    return [f"{first}{template.joint}{second}" for first, second in product(*template.pool)]


BY_PREDICATE: Mapping[str, Template] = {template.predicate: template for template in (*SINGLES, *SETS)}
