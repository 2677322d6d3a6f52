"""Root URLs of a dashboard whose names can't be reversed."""

urlpatterns: list[object] = []
