"""A server that speaks the few requests with which encoders travel to the Hugging Face Hub and back."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


class Hub:
    """Repositories as dictionaries of files, one revision each; `seen` keeps the requests."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.private: set[str] = set()
        self.large: dict[str, bytes] = {}  # by digest, until a commit names them
        self.seen: list[tuple[str, str]] = []
        self.tokens: set[str | None] = set()
        self.url = ""

    def commit(self, name: str) -> str:
        files = self.repositories[name]
        return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()

    def created(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = "/".join(filter(None, (asked.get("organization"), asked["name"])))
        self.repositories.setdefault(name, {})
        if asked.get("private") or asked.get("visibility") == "private":
            self.private.add(name)
        return {"url": f"{self.url}/{name}"}

    def committed(self, name: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
        files = self.repositories[name]
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.large[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        oid = self.commit(name)
        return {"success": True, "commitOid": oid, "commitUrl": f"{self.url}/{name}/commit/{oid}"}

    def offered(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Where large files go, in the protocol of Git LFS."""
        objects = [
            {**one, "actions": {"upload": {"href": f"{self.url}/large/{one['oid']}"}}}
            for one in asked["objects"]
        ]
        return {"transfer": "basic", "objects": objects}

    def described(self, name: str) -> dict[str, Any]:
        names = [{"rfilename": path} for path in self.repositories[name]]
        return {"id": name, "modelId": name, "sha": self.commit(name), "siblings": names, "tags": []}

    def tree(self, name: str) -> list[dict[str, Any]]:
        return [
            {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for path, data in self.repositories[name].items()
        ]


def preupload(path: str) -> dict[str, Any]:
    """As the Hub does: weights travel by Git LFS, texts inside the commit."""
    mode = "lfs" if path.endswith(".safetensors") else "regular"
    return {"path": path, "uploadMode": mode, "shouldIgnore": False}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.hub.tokens.add(self.headers.get("Authorization"))
        parts = self._parts()
        if parts[:2] == ["api", "repos"]:
            return self._json(self.hub.created(json.loads(body)))
        if parts == ["api", "validate-yaml"]:
            return self._json({"errors": [], "warnings": []})
        if parts[-2:] == ["objects", "batch"]:
            return self._json(self.hub.offered(json.loads(body)))
        name, what = "/".join(parts[2:4]), parts[4]
        if name not in self.hub.repositories:
            return self._missing("RepoNotFound")
        if what == "preupload":
            files = json.loads(body)["files"]
            return self._json({"files": [preupload(one["path"]) for one in files]})
        assert what == "commit", parts
        return self._json(self.hub.committed(name, [json.loads(line) for line in body.splitlines() if line]))

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        assert hashlib.sha256(data).hexdigest() == self._parts()[-1]
        self.hub.large[self._parts()[-1]] = data
        self._send(b"", {})

    def do_GET(self) -> None:
        parts = self._parts()
        if parts[:2] == ["api", "models"]:
            name = "/".join(parts[2:4])
            if name not in self.hub.repositories:
                return self._missing("RepoNotFound")
            return self._json(self.hub.tree(name) if "tree" in parts else self.hub.described(name))
        name, file = "/".join(parts[:2]), "/".join(parts[4:])
        data = self.hub.repositories.get(name, {}).get(file)
        if data is None:
            return self._missing("EntryNotFound")
        etag = hashlib.sha1(data).hexdigest()
        return self._send(data, {"ETag": f'"{etag}"', "X-Repo-Commit": self.hub.commit(name)})

    do_HEAD = do_GET  # noqa: N815

    def _parts(self) -> list[str]:
        path = unquote(urlsplit(self.path).path)
        self.hub.seen.append((self.command, path))
        return path.strip("/").split("/")

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _missing(self, code: str) -> None:
        self._send(b"{}", {"X-Error-Code": code}, 404)

    def _send(self, data: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def hub_running() -> Iterator[Hub]:
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
