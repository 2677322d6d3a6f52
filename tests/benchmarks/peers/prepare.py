"""Make a peer's own tables and static files: `python -m tests.benchmarks.peers.prepare`."""

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Prepare the copy of the database that PEER_FOLDER holds."""
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if settings.PEER == "wagtail":
        fill_the_tree()


def fill_the_tree() -> None:
    """Put a page of Wagtail's own beside each page that Pressroom lists."""
    from wagtail.models import Page as TreePage

    from tests.benchmarks.peers.models import Page

    home = TreePage.objects.get(depth=2)
    rows = Page.objects.order_by("id").values_list("name", flat=True)
    TreePage.objects.bulk_create(
        (
            TreePage(
                title=name,
                draft_title=name,
                slug=f"page-{number}",
                url_path=f"{home.url_path}page-{number}/",
                path=TreePage._get_path(home.path, home.depth + 1, number),
                depth=home.depth + 1,
                content_type=home.content_type,
                locale=home.locale,
            )
            for number, name in enumerate(rows, start=1)
        ),
        batch_size=1_000,
    )
    TreePage.objects.filter(pk=home.pk).update(numchild=len(rows))


if __name__ == "__main__":
    main()
