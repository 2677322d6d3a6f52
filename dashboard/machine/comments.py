"""The act `comment`. Its comments name the token's owner and say that a program wrote them."""

from dashboard.comments.models import MAX_BODY, TargetKind
from dashboard.comments.threads import CommentError, ThreadTarget, begin_thread
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.machine import shapes
from dashboard.machine.errors import invalid, not_found
from dashboard.machine.plans import visible_release
from dashboard.machine.tokens import Caller


def comment(caller: Caller, arguments: shapes.WriteComment) -> shapes.CommentState:
    """Comment on an audience or a plan, as a program of your owner."""
    ids = {"page_id": arguments.page_id, "audience_id": arguments.audience_id}
    if arguments.plan is not None:
        release = visible_release(caller, arguments.plan)
        target = ThreadTarget(TargetKind.RELEASE, object_id=str(release.pk))
    elif missing := [name for name, value in ids.items() if not value]:
        raise invalid(dict.fromkeys(missing, "is required, unless plan is named"))
    else:
        if not caller.token.may_see(arguments.page_id) or not audience_last_known(*ids.values()):
            raise not_found("Audience")
        target = ThreadTarget(TargetKind.AUDIENCE, arguments.page_id, arguments.audience_id)
    mark = caller.attribution
    body = f"{arguments.body.strip()}\n\n({mark[0].upper()}{mark[1:]}.)"
    if len(body) > MAX_BODY:
        detail = f"The comment is longer than {MAX_BODY:,} characters with its mark."
        raise invalid({"body": detail})
    try:
        row = begin_thread(caller.user, target, body)
    except CommentError as error:
        raise invalid({"body": str(error)}) from error
    return shapes.CommentState(comment=row.pk, person=row.author_name, by=mark)
