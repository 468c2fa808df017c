"""The HTML report: one file that needs no network and no script, for people to read."""
