"""Token, names of hosts, other sites' pages, strict headers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from serving.inside import Asker, asking

import kinhash as kh
from kinhash.errors import ServerError
from kinhash.serving.app import Settings, create_app
from kinhash.serving.guard import local_names
from kinhash.serving.running import running
from kinhash.serving.served import served

SECRET = "sésame, ouvre-toi"


@pytest.fixture
def guarded(ask: Asker, colours: Path) -> Iterator[Asker]:
    settings = Settings(
        token=SECRET, hosts=("127.0.0.1", "localhost", "[::1]"), cors=("https://photos.example",)
    )
    with asking(create_app([served("a", colours / "colours.kin")], settings)) as asker:
        yield asker


def test_without_the_token_nothing_but_the_health_is_told(guarded: Asker) -> None:
    assert guarded.get("/health").status == 200
    for path in (
        "/",
        "/api",
        "/metrics",
        "/openapi.json",
        "/api/a/stats",
        "/page/main.js",
        "/nothing",
        "/?token=x",
    ):
        reply = guarded.get(path)
        assert reply.status == 401, path
        assert "this server wants its token" in reply.error
        assert reply.headers["www-authenticate"] == "Bearer"
    for header in ("Bearer wrong", "Bearer", "Basic x", SECRET, "Bearer sésame, ouvre-to"):
        assert guarded.get("/api", authorization=header).status == 401


def test_the_token_as_a_header(guarded: Asker) -> None:
    plain = Asker(guarded.app)
    plain.runner.close()
    assert guarded.get("/api", authorization=f"Bearer {SECRET}").status == 200
    assert guarded.get("/api", authorization=f"bearer {SECRET}").status == 200


@pytest.mark.parametrize("token", ["sésame", "開けゴマ"])
def test_tokens_in_any_script(colours: Path, token: str) -> None:
    app = create_app([served("a", colours / "colours.kin")], Settings(token=token))
    with asking(app) as asker:
        welcome = asker.get(f"/?token={quote(token)}")
        assert welcome.status == 303
        assert asker.get("/", cookie=welcome.headers["set-cookie"].split(";")[0]).status == 200
    with running(create_app([served("a", colours / "colours.kin")], Settings(token=token))) as url:
        with kh.Client(url, token=token) as client:
            assert len(client) == 40
        with pytest.raises(ServerError, match="wants its token"):
            kh.Client(url, token=token[:-1])


def test_a_browser_changes_the_token_into_a_cookie(guarded: Asker) -> None:
    welcome = guarded.get("/?token=s%C3%A9same,%20ouvre-toi&index=a&id=x%2Fy")
    assert welcome.status == 303
    assert welcome.headers["location"] == "/?index=a&id=x%2Fy"
    cookie = welcome.headers["set-cookie"]
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert guarded.get("/", cookie=cookie.split(";")[0]).status == 200
    name = cookie.split("=")[0]
    assert guarded.get("/", cookie=f"{name}=wrong").status == 401
    assert guarded.get("/", cookie="a=b; ;;=").status == 401


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
def test_known_hosts(guarded: Asker, host: str) -> None:
    guarded.host = host
    assert guarded.get("/health").status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8080", "", "[::2]", "localhost.evil"]
)
def test_a_name_that_points_here_from_elsewhere_is_refused(guarded: Asker, host: str) -> None:
    guarded.host = host
    reply = guarded.get("/health")
    assert reply.status == 421
    assert reply.error.startswith("this server does not answer to the host")


def test_which_addresses_are_for_this_machine_only() -> None:
    for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1"):
        assert {"localhost", host} <= set(local_names(host) or ())
    for host in ("0.0.0.0", "::", "192.168.0.3", "box.example", ""):
        assert local_names(host) is None


def test_other_sites_are_let_in_only_where_they_are_named(guarded: Asker, ask: Asker) -> None:
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}

    def asked(asker: Asker, origin: str) -> dict[str, str]:
        reply = asker.run(asker.ask("OPTIONS", "/api/a/search", b"", preflight | {"origin": origin}))
        return reply.headers  # type: ignore[no-any-return]

    allow = "access-control-allow-origin"
    assert asked(guarded, "https://photos.example")[allow] == "https://photos.example"
    assert allow not in asked(guarded, "https://evil.example")
    assert allow not in asked(ask, "https://photos.example")
    assert allow not in ask.get("/api", origin="https://photos.example").headers


@pytest.mark.parametrize(
    "path", ["/", "/api", "/nothing", "/page/style.css", "/api/colours/thumbnail?id=red-00.png"]
)
def test_every_reply_has_the_strict_headers(ask: Asker, path: str) -> None:
    headers = ask.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_the_page_has_no_scripts_or_styles_of_its_own(ask: Asker) -> None:
    page = ask.get("/").body.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert " on" not in page.replace(" only", "").replace(" one", "")
    assert "http" not in page
    for name in ("main.js", "api.js", "style.css", "icon.svg"):
        reply = ask.get(f"/page/{name}")
        assert reply.status == 200
        assert ask.get(f"/page/{name}", if_none_match=reply.headers["etag"]).status == 304
        assert "https://" not in reply.body.decode()


@pytest.mark.parametrize(
    "path",
    ["/page/../app.py", "/page/..%2fapp.py", "/page/app.py", "/page//etc/passwd", "/page/", "/page/%00"],
)
def test_only_files_of_the_page_are_given(ask: Asker, path: str) -> None:
    assert ask.get(path).status == 404
