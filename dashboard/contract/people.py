"""People: operations 7 and 8."""

from dashboard.contract.resource import Resource


class Person(Resource):
    """One person. The spec marks no field required, so each may be absent."""

    person_id: str | None = None
    tenant_id: str | None = None
    name: str | None = None
    email: str | None = None
    domain: str | None = None
    slug: str | None = None
    phone_number: str | None = None
    linkedin_profile_url: str | None = None
    """`linkedinProfileUrl` on the wire; WireModel does the camelCase."""
    created_at: str | None = None
    updated_at: str | None = None
