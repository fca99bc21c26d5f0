"""What people read in the shop: names, streets, products and what is said of them."""

import re
import unicodedata
from functools import lru_cache
from random import Random
from typing import NamedTuple

LOCALES = {  # country, and how many of a hundred customers live there
    "DE": ("de_DE", 34), "GB": ("en_GB", 20), "FR": ("fr_FR", 18), "PL": ("pl_PL", 14),
    "SE": ("sv_SE", 8), "GR": ("el_GR", 6),
}  # fmt: skip
FIRST, LAST, PLACES, SENTENCES = 200, 300, 200, 400  # of each so many, made once
LONG = (40, 110)  # sentences of a description that stands out of line
SHORT = (3, 10)
LONG_SHARE = 0.25

CATALOGUE: dict[str, dict[str, tuple[str, ...]]] = {  # shelves, and what lies there
    "Kitchen": {
        "Pots and pans": ("pan", "casserole", "wok", "saucepan"),
        "Knives": ("paring knife", "bread knife", "cleaver"),
        "Tableware": ("plate", "bowl", "mug", "carafe"),
        "Machines": ("kettle", "toaster", "mixer", "coffee grinder"),
    },
    "Home": {
        "Lighting": ("table lamp", "floor lamp", "lantern"),
        "Textiles": ("blanket", "cushion", "rug", "curtain"),
        "Furniture": ("stool", "shelf", "side table", "bench"),
    },
    "Garden": {
        "Tools": ("spade", "rake", "pruning shears", "watering can"),
        "Plants": ("olive tree", "lavender", "fern", "rose"),
        "Outdoor living": ("hammock", "parasol", "fire bowl"),
    },
    "Outdoor": {
        "Camping": ("tent", "sleeping bag", "camping stove", "headlamp"),
        "Cycling": ("helmet", "bicycle lock", "pannier", "pump"),
        "Walking": ("rucksack", "water bottle", "walking poles"),
    },
    "Office": {
        "Paper": ("notebook", "planner", "sketchbook"),
        "Writing": ("fountain pen", "pencil", "marker"),
        "Desk": ("desk lamp", "letter tray", "desk mat"),
    },
}
MATERIALS = ("oak", "steel", "linen", "wool", "glass", "copper", "bamboo", "ash", "stone", "cork")
TAGS = ("new", "sale", "handmade", "organic", "gift", "limited", "recycled", "bestseller", "été")


class Spoken(NamedTuple):
    """Of one country."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    streets: tuple[str, ...]
    cities: tuple[str, ...]
    postal_codes: tuple[str, ...]
    phones: tuple[str, ...]


class Words(NamedTuple):
    spoken: dict[str, Spoken]
    countries: tuple[str, ...]  # as often as customers live there
    sentences: tuple[str, ...]
    colours: tuple[str, ...]

    def description(self, rng: Random) -> str:
        """Some are so long that the database keeps them apart from their row."""
        count = rng.randint(*(LONG if rng.random() < LONG_SHARE else SHORT))
        return " ".join(rng.choices(self.sentences, k=count))


@lru_cache(maxsize=4)
def words(seed: int) -> Words:
    """Made once: a call of Faker for each row would take longer than all the rest."""
    from faker import Faker  # half a second of imports that only a running shop should pay

    spoken = {}
    for country, (locale, _) in LOCALES.items():
        fake = Faker(locale)
        fake.seed_instance(f"{locale}/{seed}")
        spoken[country] = Spoken(
            tuple(fake.first_name() for _ in range(FIRST)),
            tuple(fake.last_name() for _ in range(LAST)),
            tuple(fake.street_address() for _ in range(PLACES)),
            tuple(fake.city() for _ in range(PLACES)),
            tuple(fake.postcode() for _ in range(PLACES)),
            tuple(fake.phone_number() for _ in range(PLACES)),
        )
    fake = Faker("en_GB")
    fake.seed_instance(f"products/{seed}")
    sentences = tuple(fake.sentence(nb_words=12) for _ in range(SENTENCES))
    colours = tuple(fake.color_name() for _ in range(60))
    countries = tuple(c for c, (_, share) in LOCALES.items() for _ in range(share))
    return Words(spoken, countries, sentences, colours)


@lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """In an e-mail or an address of the web; of letters that have no Latin kin nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
