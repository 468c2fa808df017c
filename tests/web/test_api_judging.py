"""The API of judging: blind pairs, votes on the disk, roles, and errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from berryeval.judging import Ledger, Pool
from berryeval.web.server import build_site
from berryeval.web.site import SiteSettings
from tests.web.judging_world import TokenAccounts, write_pool
from tests.web.serving import run_site

BASE = "/api/v1/judging"


class Api:
    """Requests of people by name."""

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=60)

    def get(self, who: str, path: str, **options: Any) -> Any:
        return self._read(self.client.get(f"{BASE}{path}", headers=_sign(who), params=options))

    def vote(self, who: str, *votes: dict[str, Any]) -> Any:
        body = {"votes": list(votes)}
        path = f"{BASE}/drinks/votes"
        return self._read(self.client.post(path, headers=_sign(who), json=body))

    def _read(self, answer: httpx.Response) -> Any:
        return answer.json() if answer.is_success else (answer.status_code, answer.json()["error"])


def _sign(who: str) -> dict[str, str]:
    return {"authorization": f"Bearer {who}"}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.chdir(tmp_path)
    write_pool(tmp_path, 2)
    site = build_site(SiteSettings())
    site.accounts = TokenAccounts(ann="judge", ben="judge", cy="administer", eve="look")
    with run_site(site) as served:
        found = Api(served.address)
        yield found
        found.client.close()


def test_a_pair_is_shown_blind_with_marked_words(api: Api) -> None:
    found = api.get("ann", "/drinks/pairs", count=2)
    first, _ = found["pairs"]
    assert first["query"] == "How long is green tea steeped, 0?"
    assert first["wanted"] == ["wanted: a number of minutes"]
    marked = [piece["text"] for piece in first["passage"] if piece["marked"]]
    assert marked == ["Green", "tea", "steeped"]
    names = {"id", "query", "wanted", "name", "before", "passage", "after", "more", "votes"}
    assert set(first) == names
    assert first["votes"] == []
    assert found["progress"] == {"pairs": 6, "judged": 0}


def test_a_text_with_half_a_character_is_shown(api: Api) -> None:
    pool = Pool.read("drinks.judged/pool.json")
    odd = replace(pool.pairs[0], text="half \ud800 </script>")
    replace(pool, pairs=(odd, *pool.pairs[1:])).write("drinks.judged/pool.json")
    first = api.get("ann", "/drinks/pairs")["pairs"][0]
    assert "".join(piece["text"] for piece in first["passage"]) == odd.text


def test_two_judges_get_the_same_pairs_until_each_has_voted(api: Api) -> None:
    first = api.get("ann", "/drinks/pairs")["pairs"][0]["id"]
    stored = api.vote("ann", {"pair": first, "grade": 2, "note": "clear", "request": "r1"})
    assert stored == {"stored": 1, "progress": {"pairs": 6, "judged": 1}}
    (vote,) = Ledger("drinks.judged").votes()
    assert (vote.judge, vote.grade, vote.note, vote.extra) == ("ann", 2, "clear", {"request": "r1"})
    assert api.get("ben", "/drinks/pairs")["pairs"][0]["id"] == first
    second = api.get("ann", "/drinks/pairs")["pairs"][0]["id"]
    assert second != first
    assert api.get("ann", "/drinks/pairs", without=second)["pairs"][0]["id"] not in {first, second}
    api.vote("ann", {"pair": first, "withdrawn": True, "request": "r2"})
    assert api.get("ann", "/drinks/pairs")["pairs"][0]["id"] == first


def test_only_adjudicators_see_votes(api: Api) -> None:
    first = api.get("ann", "/drinks/pairs")["pairs"][0]["id"]
    api.vote("ann", {"pair": first, "grade": 0})
    api.vote("ben", {"pair": first, "grade": 3, "note": "both numbers"})
    (disputed,) = api.get("cy", "/drinks/pairs", count=9, adjudicate=True)["pairs"]
    assert disputed["votes"] == [
        {"judge": "ann", "grade": 0, "note": ""},
        {"judge": "ben", "grade": 3, "note": "both numbers"},
    ]
    for refused in (
        api.get("ann", "/drinks/pairs", adjudicate=True),
        api.vote("ann", {"pair": first, "grade": 2, "adjudicates": True}),
    ):
        assert refused == (403, "this needs the role administer; ann may judge")
    pages = [
        api.client.get("/judge/drinks/agreement", headers=_sign(who)).text for who in ("eve", "cy")
    ]
    assert ["<b>3</b>" in one for one in pages] == [False, True]
    assert ["/drinks/adjudicate" in one for one in pages] == [False, True]
    (room,) = api.get("cy", "")
    assert (room["disputed"], room["judges"]) == (1, {"ann": 1, "ben": 1})
    api.vote("cy", {"pair": first, "grade": 2, "adjudicates": True})
    after = api.get("cy", "/drinks/pairs", adjudicate=True)
    assert (after["pairs"], after["ending"]) == ([], "the judges disagree about no other pair")


def test_status_and_agreement(api: Api) -> None:
    assert api.get("eve", "/drinks/agreement")[0] == 422
    every = [one["id"] for one in api.get("ann", "/drinks/pairs", count=6)["pairs"]]
    for who, grades in (("ann", (0, 1, 2)), ("ben", (0, 1, 3))):
        votes = zip(every, grades, strict=False)
        api.vote(who, *({"pair": pair, "grade": grade} for pair, grade in votes))
    status = api.get("eve", "/drinks/status")
    assert (status["judged"], status["pairs"]) == (2, 6)
    agreement = api.get("eve", "/drinks/agreement")["agreement"]
    assert agreement["measures"]["agreement"]["value"] == pytest.approx(2 / 3)


def test_a_vote_that_cannot_be_stored_is_an_error(api: Api) -> None:
    pair = api.get("ann", "/drinks/pairs")["pairs"][0]["id"]
    assert api.vote("ann", {"pair": pair, "grade": 9})[0] == 422
    assert api.vote("ann", {"pair": "gone", "grade": 1})[0] == 422
    assert api.vote("ann")[0] == 422
    assert api.vote("ann", {"grade": 1}) == (422, "votes.0.pair: Field required")
    assert api.vote("eve", {"pair": pair, "grade": 1}) == (
        403,
        "this needs the role judge; eve may look",
    )
    assert api.get("ann", "/nuts/pairs")[0] == 404
    assert api.get("nobody", "")[0] == 401
    both = api.vote("ann", {"pair": pair, "grade": 1}, {"pair": pair, "grade": 9})
    assert both[0] == 422
    assert Ledger("drinks.judged").votes() == []


def test_the_api_describes_its_votes(api: Api) -> None:
    described = api.client.get("/api/v1/openapi.json", headers=_sign("ann")).json()
    vote = described["components"]["schemas"]["SentVote"]["properties"]
    assert set(vote) >= {"pair", "grade", "note", "request", "withdrawn", "adjudicates"}
    answer = described["paths"]["/api/v1/judging/{room}/pairs"]["get"]["responses"]["200"]
    assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/NextPairs")


def test_a_full_disk_is_reported_so_that_the_page_tries_again(api: Api) -> None:
    pair = api.get("ann", "/drinks/pairs")["pairs"][0]["id"]
    Path("drinks.judged/votes").write_text("in the way")
    status, text = api.vote("ann", {"pair": pair, "grade": 1, "request": "r"})
    assert (status, "were not kept" in text) == (503, True)
    Path("drinks.judged/votes").unlink()
    assert api.vote("ann", {"pair": pair, "grade": 1, "request": "r"})["stored"] == 1


def test_votes_are_never_refused_for_good_because_the_store_is_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page drops a vote that can never be stored; one that can wait must say so each time."""
    monkeypatch.chdir(tmp_path)
    vote = {"pair": write_pool(tmp_path, 2).pairs[0].id, "grade": 1, "request": "r"}
    site = build_site(SiteSettings(ledger="sqlite:///votes.db"))
    site.accounts = TokenAccounts(ann="judge")
    with run_site(site) as served:
        api = Api(served.address)
        pool = Path("drinks.judged/pool.json")
        whole = pool.read_bytes()
        pool.write_bytes(whole[:50])
        assert api.vote("ann", vote)[0] == 503
        pool.write_bytes(whole)
        assert api.vote("ann", {**vote, "request": "first"})["stored"] == 1
        stored = Path("votes.db").read_bytes()
        Path("votes.db").write_bytes(b"no database " * 1000)
        assert [api.vote("ann", vote)[0] for _ in range(3)] == [503] * 3
        Path("votes.db").write_bytes(stored)
        assert api.vote("ann", vote)["stored"] == 1
        api.client.close()
