"""Published files: where they are looked for on this machine, and how they are downloaded when that is asked for.

A file is known by its SHA-256. It is looked for in digram's cache folder (`DIGRAM_CACHE_DIR`, by default the
platform's, such as ~/.cache/digram) and in tiktoken's (`TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`, or
data-gym-cache in the folder for temporary files), under its own name or under tiktoken's key. A download comes from
the published address, or from the server that `DIGRAM_MIRROR` names; `DIGRAM_OFFLINE=1` forbids it.

The folder `prepared` in digram's cache folder keeps what `digram.load` made of named encodings and of other sources
from 256 kB on, so that the next load takes hundredths of a second: at most 32 files and 256 MB, of which those go first
whose last use is the longest ago. It may be removed at any time. `DIGRAM_CACHE=0` (or no, off, false) switches it off:
nothing is read from it and nothing written. Who may write into the folder may decide what is loaded, so let it be your
own.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from digram.errors import DownloadError, FormatError
from digram.files import contents, whole_file

__all__ = ["PUBLISHED", "PublishedFile", "download", "fetch", "find", "folders", "offline", "own_folder"]

PUBLISHED = "https://openaipublic.blob.core.windows.net"

# A server that says nothing for so many seconds is given up.
_PATIENCE = 30.0
# No published vocabulary is nearly as large; a server may send anything.
_LARGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file at an address, and its SHA-256."""

    path: str
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.path.rpartition("/")[2]

    @property
    def address(self) -> str:
        """Where it was published."""
        return PUBLISHED + self.path

    @property
    def source(self) -> str:
        """Where it is downloaded from: the same, or the server that `DIGRAM_MIRROR` names."""
        return (os.environ.get("DIGRAM_MIRROR") or PUBLISHED).rstrip("/") + self.path

    @property
    def key(self) -> str:
        """The name that tiktoken's cache gives it: the SHA-1 of the address."""
        return hashlib.sha1(self.address.encode(), usedforsecurity=False).hexdigest()

    def is_content(self, data: bytes) -> bool:
        """Whether `data` is what was published."""
        return hashlib.sha256(data).hexdigest() == self.sha256


def own_folder() -> Path:
    """digram's cache folder; it need not be there."""
    given = os.environ.get("DIGRAM_CACHE_DIR")
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "digram"


def folders() -> list[Path]:
    """The folders that published files are looked for in: digram's, then tiktoken's."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            others = os.environ[variable]  # empty where tiktoken is told to keep nothing
            break
    else:
        import tempfile  # slow to import, and mostly not needed

        others = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    return [own_folder(), *([Path(others)] if others else [])]


def find(file: PublishedFile, within: list[Path]) -> tuple[bytes | None, list[str]]:
    """What the file holds, from the first of the folders that has it; and the places, with what is wrong with them."""
    places = []
    for folder in within:
        wrong = []
        for name in (file.name, file.key):
            try:
                data = contents(folder / name, _LARGEST)
            except (OSError, FormatError):  # of a pipe, or what is far too large
                continue
            if file.is_content(data):
                return data, []
            wrong.append(name)
        damaged = f" (its {' and '.join(wrong)} has another SHA-256)" if wrong else ""
        places.append(f"{folder}{damaged}")
    return None, places


def offline() -> bool:
    """Whether `DIGRAM_OFFLINE` forbids downloads."""
    return os.environ.get("DIGRAM_OFFLINE", "") not in ("", "0")


def download(address: str) -> bytes:
    """What stands at an http or https address. DownloadError says why it cannot be had."""
    import http.client  # 20 ms, for those who only load
    import urllib.error
    import urllib.request

    if offline():
        raise DownloadError(
            f"{address} is not downloaded, for DIGRAM_OFFLINE is set: unset it, or bring the file yourself"
        )
    if not address.startswith(("http://", "https://")):
        raise DownloadError(f"{address} is no address on the web: DIGRAM_MIRROR must begin with https:// or http://")
    request = urllib.request.Request(address, headers={"User-Agent": "digram"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as response:
            data: bytes = response.read(_LARGEST + 1)
            expected = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        error.close()
        reason = f"the server answers {error.code} {error.reason}"
    except urllib.error.URLError as error:
        reason = f"there is no answer ({error.reason})"
    except (http.client.HTTPException, OSError) as error:
        reason = f"the connection broke off ({error or type(error).__name__})"
    else:
        if len(data) > _LARGEST:
            reason = f"it is larger than {_LARGEST >> 20} MB"
        elif expected is not None and expected.isdecimal() and len(data) != int(expected):
            reason = f"only {len(data):,} of its {expected} bytes came"
        else:
            return data
    raise DownloadError(f"{address} cannot be downloaded, {reason}: try again, or name another server in DIGRAM_MIRROR")


def fetch(file: PublishedFile) -> bytes:
    """Downloads the file into digram's cache folder and returns what it holds.

    DownloadError where it cannot be had, or is not what was published; then nothing is written.
    """
    data = download(file.source)
    if not file.is_content(data):
        raise DownloadError(
            f"what came from {file.source} is not the published {file.name} ({len(data):,} bytes with another "
            "SHA-256), and was not kept: try again, or name another server in DIGRAM_MIRROR"
        )
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / file.name) as out:
        out.write(data)
    return data
