"""The documentation site: assemble the pages, build them, check every link."""
