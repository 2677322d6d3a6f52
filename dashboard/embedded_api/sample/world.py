"""Everything of the sample at once, not saved: a pure function of the time it is made for."""

from dataclasses import dataclass, field
from datetime import datetime

from dashboard.contract.pages import PageStatus
from dashboard.embedded_api.models import Conversation, Page, Subscription
from dashboard.embedded_api.sample.audiences import AudienceStory, audience_stories
from dashboard.embedded_api.sample.conversations import conversations
from dashboard.embedded_api.sample.pages import pages
from dashboard.embedded_api.sample.webhooks import subscriptions


@dataclass
class World:
    """The sample but for its people, who are too many to be held at once."""

    now: datetime
    pages: list[Page] = field(default_factory=list)
    stories: list[AudienceStory] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)


def make_world(now: datetime) -> World:
    """Make the sample as it stands at `now`: the same but for its times on every run."""
    world = World(now, subscriptions=list(subscriptions(now)))
    for number, (page, brief) in enumerate(pages(now)):
        stories = list(audience_stories(number, page, brief, now))
        if brief.status is not PageStatus.DRAFT:
            page.published_at = min(
                (v.published_at for s in stories for v in s.versions if v.published_at),
                default=None,
            )
        world.pages.append(page)
        world.stories.extend(stories)
    world.conversations.extend(conversations(world.stories, now))
    return world
