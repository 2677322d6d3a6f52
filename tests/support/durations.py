"""Durations and their texts, which are the same on the server and in relative-times.js."""

MINUTE, HOUR, DAY = 60, 3600, 86_400
AGES = {
    10: "10 s",
    59: "59 s",
    MINUTE: "1 min",
    MINUTE + 59: "1 min",
    2 * MINUTE: "2 min",
    HOUR - 1: "59 min",
    HOUR: "1 h 00 min",
    HOUR + 9 * MINUTE: "1 h 09 min",
    2 * HOUR + 10 * MINUTE + 59: "2 h 10 min",
    DAY - 1: "23 h 59 min",
    DAY: "1 day 0 h",
    2 * DAY - 1: "1 day 23 h",
    2 * DAY: "2 days 0 h",
    45 * DAY + 6 * HOUR: "45 days 6 h",
    1204 * DAY: "1204 days 0 h",
}
"""Texts by duration in seconds, at and around every change of format."""
