"""The supplementary context of an audience, and its changes between versions.

A text is built from facts. A new version changes a few of them, so that versions differ by
realistic edits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from dashboard.embedded_api.sample.companies import Company
from dashboard.embedded_api.sample.randomness import random_sample

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")

FLEETS = (
    "refrigerated trucks", "trucks", "articulated lorries", "tankers", "vans", "timber trucks",
    "car transporters",
)  # fmt: skip
ROLES = (
    "fleet manager", "operations director", "head of transport", "night-shift planner",
    "finance director",
)  # fmt: skip
WORRIES = (
    "temperature alarms", "late returns to the depot", "missed slots at supermarkets",
    "driver hours",
    "empty miles", "fuel cost per kilometre", "proof of delivery", "claims after rejected loads",
    "subcontractors who don't answer the phone", "payback time", "reports for their shippers",
)  # fmt: skip
LEADS = (
    "the cold-chain alarm module", "planned against actual arrival", "the payback table",
    "the yard board with doors and docks", "the driver hours view", "the subcontractor link",
    "the map of idle trailers", "the carbon report that shippers accept",
)  # fmt: skip
PROOFS = (
    "Quote the Nordlys pilot: 31% fewer rejected loads in one quarter.",
    "Quote Moorland Dairies: 22 minutes less waiting at each dock.",
    "Quote Baltic Timber Lines: 9% fewer empty kilometres in the first winter.",
    "No customer quote: none from their sector is approved.",
)
LIMITS = (
    "Do not mention driver scoring. Their union objected to it last year and the topic is closed "
    "until the new agreement is signed.",
    "Never promise an installation date before the IT department has answered the security"
    " questions.",
    "Do not compare with their present system. The person who chose it reads this page.",
    "No word about the merger: it is not public before the general meeting.",
    "Do not name other customers in the same region.",
)
PLANS = (
    "12-month plan at list price", "24-month plan", "36-month plan",
    "pilot of 20 vehicles for eight weeks",
)  # fmt: skip
DISCOUNTS = (
    "No discount has been approved.",
    "The discount of 8% was approved and is valid until the end of the quarter.",
    "The discount of 5% holds for fleets over 100 vehicles.",
    "Installation is free of charge if they sign this quarter.",
)
NOTES = (
    "",
    "They answer letters faster than e-mails.",
    "The next call is on Thursday; prepare the answers to the four questions about data ownership.",
    "A visit to the depot was offered and accepted for the week after Easter.",
    "Use formal address throughout.",
    "They asked for everything on one screen, because the planner stands while working.",
)


@dataclass(frozen=True)
class Facts:
    """The facts known about a company at one time."""

    company: Company
    contact: str
    role: str
    fleet: int
    vehicles: str
    depots: int
    worries: tuple[str, ...]
    lead: str
    proof: str
    limit: str
    second_role: str = ""
    plan: str = PLANS[0]
    discount: str = DISCOUNTS[0]
    note: str = ""


def first_facts(rng: Random, company: Company, contact: str) -> Facts:
    """Return the initial facts about a company."""
    return Facts(
        company=company,
        contact=contact,
        role=rng.choice(ROLES),
        fleet=company.fleet,
        vehicles=rng.choice(FLEETS),
        depots=rng.randint(1, 3),
        worries=random_sample(rng, WORRIES, 2),
        lead=rng.choice(LEADS),
        proof=rng.choice(PROOFS),
        limit=rng.choice(LIMITS),
    )


_EDITS: tuple[Callable[[Random, Facts], Facts], ...] = (
    lambda rng, facts: replace(facts, fleet=facts.fleet + rng.randint(2, 12)),
    lambda rng, facts: replace(
        facts, depots=min(facts.depots + 1, len(facts.company.country.towns))
    ),
    lambda rng, facts: replace(facts, second_role=rng.choice(ROLES)),
    lambda rng, facts: replace(facts, worries=random_sample(rng, WORRIES, 3)),
    lambda rng, facts: replace(facts, lead=rng.choice(LEADS)),
    lambda rng, facts: replace(facts, proof=rng.choice(PROOFS)),
    lambda rng, facts: replace(facts, limit=rng.choice(LIMITS)),
    lambda rng, facts: replace(facts, plan=rng.choice(PLANS), discount=rng.choice(DISCOUNTS)),
    lambda rng, facts: replace(facts, note=rng.choice(NOTES)),
)


def next_facts(rng: Random, facts: Facts) -> Facts:
    """Change one to three facts, so that the text differs."""
    after = facts
    while context(after) == context(facts):
        for edit in random_sample(rng, _EDITS, 3):
            after = edit(rng, after)
    return after


def context(facts: Facts) -> str:
    """Return the supplementary context: four or five paragraphs of plain text."""
    depots = _listed(facts.company.country.towns[: facts.depots])
    noun = "depot" if facts.depots == 1 else "depots"
    people = f"Their {facts.role}, {facts.contact},"
    if facts.second_role and facts.second_role != facts.role:
        people += f" and their {facts.second_role}"
    paragraphs = (
        f"{facts.company.name} runs {facts.fleet} {facts.vehicles} out of {NUMBERS[facts.depots]}"
        f" {noun} ({depots}). {people} asked mainly about {_listed(facts.worries)}.",
        f"Lead with {facts.lead}. {facts.proof}",
        facts.limit,
        f"Pricing: offer the {facts.plan}. {facts.discount}",
        facts.note,
    )
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
