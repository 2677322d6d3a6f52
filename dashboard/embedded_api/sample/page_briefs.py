# ruff: noqa: E501 (one line per page)
"""Names, titles and types of the sixty pages, written by hand to look real."""

from typing import NamedTuple

from dashboard.contract.pages import PageStatus, PageType

IN, OUT, CALL, DECK, CUSTOM = (
    PageType.INBOUND,
    PageType.OUTBOUND,
    PageType.CALL_FOLLOWUP,
    PageType.SALES_DECK,
    PageType.CUSTOM,
)
LIVE, DRAFT, OLD = PageStatus.PUBLISHED, PageStatus.DRAFT, PageStatus.ARCHIVED


class PageBrief(NamedTuple):
    """A page's name, title, type, status and number of audiences."""

    name: str
    title: str
    page_type: PageType
    status: PageStatus
    audiences: int


PAGE_BRIEFS = tuple(
    PageBrief(*row)
    for row in (
        ("Fleet telematics for regional carriers", "Every truck, trailer and reefer on one map", OUT, LIVE, 34),
        ("Named accounts, Northern Europe", "One page for each of 400 carriers", OUT, LIVE, 400),
        ("Inbound demo request", "Book a 30-minute walk-through", IN, LIVE, 48),
        ("Enterprise pricing deck, Q2 2026", "Kestrel for fleets over 500 vehicles", DECK, LIVE, 12),
        ("Reefer alarms, Iberia", "Menos rechazos en destino", OUT, LIVE, 22),
        ("Yard management for food distributors", "Doors, docks and dwell time", OUT, LIVE, 19),
        ("Trade show: LogiMAT Stuttgart", "Stand 4F21, Halle 4", CUSTOM, LIVE, 16),
        ("Driver hours and tachograph", "Compliance without the paperwork", IN, LIVE, 21),
        ("Carbon reporting for shippers", "Scope 3 numbers your customers will accept", OUT, LIVE, 18),
        ("Call follow-up: Brightwater Foods cold-chain pilot", "What we agreed on the call", CALL, DRAFT, 1),
        ("Call follow-up: Osei & Daughters Haulage", "Answers to your four questions", CALL, LIVE, 1),
        ("Call follow-up: Fjordlast winter tyres", "The three numbers you asked for", CALL, LIVE, 1),
        ("Call follow-up: Transportes Río Verde", "Próximos pasos", CALL, LIVE, 2),
        ("Call follow-up: Moorland Dairies renewal", "What changes in year two", CALL, LIVE, 1),
        ("Call follow-up: Baltic Timber Lines", "Routes, permits and a start date", CALL, DRAFT, 1),
        ("Call follow-up: Van der Meer Transport", "Van planbord naar Kestrel", CALL, OLD, 1),
        ("Call follow-up: SCTF-ARA consortium", "Huit dépôts, un seul écran", CALL, LIVE, 3),
        ("Call follow-up: Northgate Parcel night shift", "Who sees what at 02:00", CALL, DRAFT, 1),
        ("Migrating from spreadsheets to Kestrel Dispatch: a step-by-step guide for operations directors"
         " at mid-sized hauliers in the Nordics and the Baltics",
         "Leave the spreadsheet behind in six weeks, without a second system running beside it", OUT, LIVE, 26),
        ("Port drayage landing for container hauliers between Felixstowe, Southampton and the Midlands"
         " rail terminals", "", CUSTOM, DRAFT, 0),
        ("Hanseatic Kühllogistik renewal", "Angebot zur Verlängerung 2026 bis 2028", DECK, DRAFT, 1),
        ("Last-mile van fleets", "Routes that survive the morning", OUT, DRAFT, 8),
        ("Partner programme", "For resellers and integrators", CUSTOM, LIVE, 9),
        ("Nordlys Seafood case study", "31% fewer rejected loads in one quarter", IN, LIVE, 6),
        ("Hazardous goods module", "ADR checks before the truck leaves", OUT, LIVE, 11),
        ("Pricing deck, Q4 2025", "Superseded by Q2", DECK, OLD, 9),
        ("Waste and recycling collections", "Bins, rounds and proof of service", OUT, DRAFT, 3),
        ("Construction plant hire", "Plan, dispatch and prove it", OUT, LIVE, 12),
        ("Bulk tanker operations", "Built with the people who run it", CUSTOM, LIVE, 5),
        ("Automotive just-in-time", "Fewer calls, fewer empty miles", CUSTOM, OLD, 4),
        ("Pharma distribution (GDP)", "Temperature evidence an auditor accepts", OUT, LIVE, 14),
        ("Timber haulage, Baltics", "Numbers from twelve customers", OUT, LIVE, 9),
        ("Car transporters", "Damage reports with the photograph attached", IN, LIVE, 7),
        ("Parcel hubs", "Sort, scan and see the gap", IN, LIVE, 12),
        ("Supermarket backhaul", "Full both ways", IN, DRAFT, 5),
        ("Cross-border customs", "Papers ready before the border", OUT, LIVE, 15),
        ("Livestock transport", "Journey logs that write themselves", IN, LIVE, 6),
        ("Airport ground freight", "From slot to stand", OUT, DRAFT, 4),
        ("Fuel card integration", "Every litre beside its kilometre", CUSTOM, DRAFT, 3),
        ("Trailer tracking", "Know which of the 900 is idle", IN, LIVE, 13),
        ("Bid desk toolkit", "Answer a tender in a day", IN, OLD, 4),
        ("Subcontractor portal", "One link instead of thirty phone calls", IN, LIVE, 8),
        ("Load planning deck", "The last two pallets", DECK, LIVE, 7),
        ("Board deck: total cost of dispatch", "Five years, three scenarios", DECK, LIVE, 4),
        ("Security and data protection deck", "Answers for your auditors", DECK, LIVE, 10),
        ("Rollout deck for works councils", "Was das System sieht und was nicht", DECK, LIVE, 3),
        ("ROI deck, cold chain", "The cost of one rejected load", DECK, DRAFT, 5),
        ("Spring outbound 2025", "One dispatcher, forty trucks", OUT, OLD, 8),
        ("Autumn outbound 2025", "Ready before the first frost", OUT, OLD, 7),
        ("Newsletter sign-up: The Empty Mile", "One page a month for people who plan", IN, LIVE, 2),
        ("Webinar: planning with four generations of drivers", "Thursday, 10:00 CET", IN, OLD, 4),
        ("Customer onboarding hub", "Your first thirty days", CUSTOM, LIVE, 11),
        ("Service status and incidents", "What happened and what we did", CUSTOM, LIVE, 1),
        ("Careers: solutions engineers", "Help carriers leave the whiteboard", CUSTOM, OLD, 2),
        ("Electric truck charging", "Range, chargers and the late return", OUT, LIVE, 10),
        ("Temperature claims calculator", "What one degree costs", IN, LIVE, 8),
        ("Frozen food distributors, DACH", "Kühlkette ohne Lücke", OUT, LIVE, 13),
        ("Nordic forestry", "Winter roads, short windows", OUT, DRAFT, 4),
        ("Transport for humanitarian aid", "Convoys, permits and last known position", CUSTOM, LIVE, 2),
        ("Dispatcher's handbook (draft)", "Everything the six o'clock shift needs", CUSTOM, DRAFT, 3),
    )
)  # fmt: skip
