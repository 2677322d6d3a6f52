"""/review/, and …/conversation/verdict/ of an audience."""

from django.urls import path

from dashboard.web.review import decision_views, item_views, verdict_views, views

ITEM = "<int:run_id>/<int:number>/"

urlpatterns = [
    path("review/", views.review_list, name="review-list"),
    path("review/<int:run_id>/", views.review_summary, name="review-summary"),
    path("review/<int:run_id>/export.csv", views.review_export, name="review-export"),
    path(f"review/{ITEM}", item_views.review_item, name="review-item"),
    path(f"review/{ITEM}next/", decision_views.review_next, name="review-next"),
    path(f"review/{ITEM}narrow/", decision_views.review_narrow, name="review-narrow"),
    path(f"review/{ITEM}take-over/", decision_views.review_take_over, name="review-take-over"),
    # Decisions.
    path(f"review/{ITEM}release/", decision_views.review_release, name="review-release"),
    path(f"review/{ITEM}needs-work/", decision_views.review_needs_work, name="review-needs-work"),
    path(f"review/{ITEM}reject/", decision_views.review_reject, name="review-reject"),
    path(f"review/{ITEM}later/", decision_views.review_later, name="review-later"),
    path(f"review/{ITEM}skip/", decision_views.review_skip, name="review-skip"),
    path(f"review/{ITEM}undo/", decision_views.review_undo, name="review-undo"),
    path(
        "pages/<id:page_id>/audiences/<id:audience_id>/conversation/verdict/",
        verdict_views.change_verdict,
        name="change-verdict",
    ),
]
