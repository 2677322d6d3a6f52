"""Operation 9: update a webhook subscription."""

from dashboard.client.calls import Call, path
from dashboard.client.resources.base import Resource
from dashboard.contract.webhooks import SubscriptionPatch, WebhookSubscription


class WebhookSubscriptions(Resource):
    """The subscriptions, of which the spec can only update one."""

    def update(self, subscription_id: str, patch: SubscriptionPatch) -> WebhookSubscription:
        """Change what `patch` sets and return the subscription; `SubscriptionPatch()` reads it.

        Never sent twice, the reading kind included. Raises an APIError where the service gives
        no usable answer.
        """
        call = Call(
            operation="Update webhook subscription",
            method="PATCH",
            path=path("webhook_subscriptions", subscription_id),
            body=patch.to_wire(),
        )
        return self._session.answer(call, reply=WebhookSubscription)
