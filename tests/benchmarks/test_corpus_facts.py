"""A fact that several sections of a bundled corpus state is the same in all of them."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest

from berryeval.anchors.markdown import parse_sections
from berryeval.benchmarks.loading import load_benchmark

TECHNICAL_DOCS: Final = [
    (
        (
            "only migrations and replication|through PgBouncer as|migrations and replication only"
            "|only from PgBouncer, the migration job and the replica"
        ),
        "database-schema#metadata-database-schema",
        "operations-runbook#database-pool-exhausted",
        "migration-guide-v2-to-v3#upgrading-the-metadata-schema",
        "security-hardening#database-and-network-isolation",
    ),
    (
        "waiting period of 7 days",
        "cli-reference#admin-commands-for-keys-and-encryption",
        "data-retention-and-privacy#crypto-shredding",
        "security-hardening#encryption-at-rest",
    ),
    (
        r"(?is)metadata.{0,120}\b5 minutes|5 minutes.{0,30}metadata",
        "adr-log#adr-015-active-passive",
        "faq#which-region-holds-my-data-and-what-if-it-fails",
        "glossary#rpo-and-rto",
        "multi-region-guide#multi-region-guide",
        "multi-region-guide#the-data-gap-after-a-failover",
        "operations-runbook#regional-failover",
    ),
    (
        r"(?i)(in the queue|to a segment).{0,40}the last 30 to 60 seconds",
        "faq#which-region-holds-my-data-and-what-if-it-fails",
        "multi-region-guide#the-data-gap-after-a-failover",
        "operations-runbook#regional-failover",
    ),
    (
        "six attempts",
        "cli-reference#sending-and-querying-events",
        "incident-postmortem-2025-03#retry-storm-and-missing-backpressure",
        "quickstart-tutorial#make-it-safe-to-retry",
        "sdk-guide#retries-and-backoff",
    ),
    (
        r"(?i)12 attempts|12 times over a|attempted up to 12 times|tries 12 times",
        "adr-log#adr-023-webhook-delivery",
        "capacity-planning#webhook-dispatcher-throughput",
        "faq#are-webhooks-sent-in-order-and-only-once",
        "migration-guide-v2-to-v3#webhook-receivers",
        "webhooks-reference#retry-schedule",
    ),
    (
        r"Support staff see metadata; event contents only after.*at most 24 hours",
        "data-retention-and-privacy#location-of-data",
        "multi-region-guide#latency-and-data-residency",
    ),
    (
        r"(?i)only in webhooks and exports that",
        "data-retention-and-privacy#location-of-data",
        "multi-region-guide#latency-and-data-residency",
    ),
    (
        r"in the bucket",
        "data-retention-and-privacy#personal-data-in-logs-and-webhooks",
        "database-schema#webhook-tables",
    ),
    (
        r"71 percent|eight of twelve|eight gateways",
        "deployment-guide#health-checks-and-draining",
        "incident-postmortem-2025-03#postmortem-ingest-outage-of-18-march-2025",
        "incident-postmortem-2025-03#timeline",
        "incident-postmortem-2025-03#why-the-alerts-were-late",
        "observability-guide#burn-rate-alerts",
    ),
    (
        r"swap in 3\.3|since release 3\.3|became a 64-bit",
        "changelog#release-3-3",
        "database-schema#webhook-tables",
        "incident-postmortem-2025-03#corrective-actions",
    ),
]

SPRING_BOOT: Final = [
    ("at the price of dynamic features", "packaging/native-image#native-or-jvm"),
    ("bound by the same restrictions", "packaging/native-image#aot-processing"),
    (
        r"flagForCommit\(\)` and then `TestTransaction.end",
        "testing/spring-boot-test#test-transactions",
    ),
    (r"`spring.mail.port`.*1025 for Mailpit, 3025 for GreenMail", "io/mail#mail-tests"),
    ("every bean of the type `Module`.*not discovered by `ServiceLoader`", "web/json#json"),
    ("spring.mvc.converters.preferred-json-mapper", "web/json#gson-and-jsonb"),
    (
        r"(?s)@MeterTag\(\"size\"\) PaperSize size.*`MeterTagAnnotationHandler` bean",
        "actuator/metrics#timed-annotation",
    ),
    (
        "protected and package-private ones are since Spring Framework 6.0",
        "io/caching#cacheable-annotation",
        "data/transactions#transactional-pitfalls",
    ),
    (
        "application starts even while the provider is down. `jwk",
        "security/oauth2#resource-server-jwt",
    ),
    ("(?s)CsrfTokenRequestAttributeHandler.*`getToken", "security/web-security#csrf"),
    (
        "isClustered=true|clustered JDBC store",
        "core/scheduling#scheduling",
        "core/scheduling#scheduling-in-cluster",
        "core/scheduling#quartz",
    ),
    ("into the extracted folder `shop` first", "packaging/executable-jars#extracting-jar"),
    ("`max-history` .*counted in periods", "core/logging#log-files"),
    ("official ones are all named", "core/build-systems#starters"),
    (
        "It must depend on `spring-boot-starter`.*That module should declare",
        "core/auto-configuration#creating-starter",
    ),
]

AGREED: Final = {"technical-docs": TECHNICAL_DOCS, "spring-boot": SPRING_BOOT}


@cache
def sections(name: str) -> dict[str, str]:
    """Return the text of every section of a bundled corpus."""
    return {
        f"{document.id}#{section.id}".removeprefix("spring-boot/"): document.text[
            section.start : section.own_end
        ]
        for document in load_benchmark(name).documents
        for section in parse_sections(document.text)
    }


@pytest.mark.parametrize(
    ("name", "pattern", "section"),
    [
        (name, fact, one)
        for name, facts in AGREED.items()
        for fact, *places in facts
        for one in places
    ],
)
def test_every_section_states_the_same_fact(name: str, pattern: str, section: str) -> None:
    assert re.search(pattern, sections(name)[section])
