"""Ordinary words and well-known names that the corpora are drawn from."""

__all__ = ["ANIMALS", "CITIES", "COUNTRIES", "MATERIALS", "PEOPLE", "WORDS"]

WORDS = tuple(
    """
    anchor almond amber apron arrow attic badge bamboo banner barrel basil basket beacon blanket blossom bottle
    bracket bridge bronze bucket butter button cabin camera candle canyon carpet castle cedar chapel cherry circus
    clover cobalt comet copper coral cotton cradle crayon crystal curtain cushion dagger desert dinner dolphin
    donkey dragon eagle easel echo ember engine fabric falcon feather fiddle flannel flower forest fossil fountain
    garden garlic garnet ginger glacier goblet granite guitar hammer harbor helmet honey hotel indigo insect island
    ivory jacket jasper jungle kernel kettle kitten ladder lagoon lantern lemon lizard magnet marble meadow mirror
    mitten monsoon mosaic mustard napkin nectar needle nickel nutmeg onyx orange orchid oyster paddle palace
    parrot pebble pencil pepper pillow planet plaster pocket prism puddle quartz quilt rabbit radish raven ribbon
    rocket saddle saffron salmon sandal satin shadow shovel silver spider spruce stable sulfur summer sunset
    tablet temple thimble thunder tiger timber tractor trumpet tulip tunnel turnip umbrella valley vanilla velvet
    village violin wagon walnut whistle willow window winter yogurt zebra
    """.split()
)

PEOPLE = tuple(
    """
    Alice Bruno Chidi Daphne Emil Fatima Gustav Hanako Imran Joaquin Keiko Lorenzo Mireille Nikolai Oluwaseun
    Priya Quentin Rosalind Sergei Tamsin Umberto Valentina Wendell Ximena Yusuf Zanele Astrid Bogdan Cleo Dmitri
    """.split()
)

COUNTRIES = (
    "France", "Brazil", "Japan", "Kenya", "Norway", "Peru", "Vietnam", "Egypt", "Canada", "Poland", "Fiji",
    "Mongolia", "Jordan", "Cuba", "Iceland", "Ghana", "Nepal", "Chile", "Ireland", "Thailand", "Morocco", "Greece",
    "Samoa", "Bolivia", "Estonia", "Zambia", "Oman", "Jamaica", "Laos", "Portugal",
)  # fmt: skip

CITIES = (
    "Lyon", "Osaka", "Mombasa", "Bergen", "Cusco", "Hanoi", "Luxor", "Toronto", "Krakow", "Porto", "Galway",
    "Dresden", "Valparaiso", "Kumasi", "Fez", "Tampere", "Ghent", "Seville", "Adelaide", "Memphis",
)  # fmt: skip

ANIMALS = (
    "badger", "octopus", "heron", "camel", "gecko", "walrus", "beetle", "lynx", "tortoise", "puffin", "moose",
    "jellyfish", "hamster", "cobra", "ostrich", "seahorse", "bison", "bat", "crane", "newt",
)  # fmt: skip

MATERIALS = (
    "titanium", "oak", "concrete", "nylon", "graphite", "porcelain", "cork", "kevlar", "tungsten", "wool",
    "aluminium", "leather", "asphalt", "silicon", "brass", "rubber", "slate", "paper", "obsidian", "linen",
)  # fmt: skip
