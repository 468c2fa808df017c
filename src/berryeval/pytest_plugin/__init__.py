"""Quality tests in pytest: the marker `eval`, the option `--eval`, the fixture `evaluation`."""
