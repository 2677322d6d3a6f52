"""The Metadata object of pages and audiences."""

from typing import Any

from dashboard.contract.wire import WireModel

FIELDS = (
    *("title", "description", "keywords", "author", "robots", "canonicalUrl"),
    *("ogTitle", "ogDescription", "ogImageUrl", "ogImageFileId", "ogImageAlt", "ogSiteName"),
    *("ogUrl", "twitterTitle", "twitterDescription", "twitterImageUrl", "twitterImageFileId"),
    *("twitterImageAlt", "twitterSite", "twitterCreator", "themeColor"),
)
"""Names on the wire, in the spec's order (Metadata object)."""


class MetadataRequest(WireModel):
    """Metadata in a create-page request: without the URLs and file ids of images."""

    title: str | None = None
    description: str | None = None
    keywords: list[str] | None = None
    author: str | None = None
    robots: list[Any] | None = None
    """Element type: not shown."""
    canonical_url: str | None = None
    og_title: str | None = None
    og_description: str | None = None
    og_image_alt: str | None = None
    og_site_name: str | None = None
    og_url: str | None = None
    twitter_title: str | None = None
    twitter_description: str | None = None
    twitter_image_alt: str | None = None
    twitter_site: str | None = None
    twitter_creator: str | None = None
    theme_color: str | None = None


class Metadata(MetadataRequest):
    """Metadata as returned. Source: spec, Metadata object."""

    og_image_url: str | None = None
    og_image_file_id: str | None = None
    twitter_image_url: str | None = None
    twitter_image_file_id: str | None = None
