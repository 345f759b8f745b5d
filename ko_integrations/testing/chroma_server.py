"""A real Chroma server on this machine, to test against; it can be stopped, killed and started again."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Self

import httpx

__all__ = ["ChromaServer"]


class ChromaServer:
    """`chroma run` on a free loopback port.

    Starting does not wait until it answers: `ChromaIndex.open` does for a while, `wait` for longer, as a busy
    machine needs.

    Attributes:
        path: the folder that it keeps its data in.
        url: where it listens; the same after a restart.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        """The server's process, None while it is stopped."""
        return None if self._process is None else self._process.pid

    def start(self) -> Self:
        """Start the server, unless it runs."""
        if self._process is None:
            code = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"
            arguments = ["run", "--path", str(self.path), "--host", "127.0.0.1", "--port", str(self.port)]
            # The server's own folder: it may write beside its data.
            self.path.mkdir(parents=True, exist_ok=True)
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                cwd=self.path,
                env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return self

    def wait(self, seconds: float = 60.0) -> Self:
        """Wait until it answers.

        Raises:
            RuntimeError: it does not in time, or ended.
        """
        end = monotonic() + seconds
        while monotonic() < end and self._process is not None and self._process.poll() is None:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/api/v2/heartbeat", timeout=seconds).is_success:
                    return self
            sleep(0.1)
        raise RuntimeError(f"no Chroma server answers at {self.url}")

    def stop(self, *, kill: bool = False) -> None:
        """Stop the server, with `kill -9` or by asking; data stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop(kill=True)
