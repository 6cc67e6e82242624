"""Builds the real parts that the tests run against, once, into a cache folder outside git.

Run as ``python -m tests.harness.build [controlplane|dataplane|all]``, or import :func:`binaries`.
What is built is said in :mod:`tests.harness.parts`; this file only knows how to turn a part into
a folder of binaries and how to find that folder again.
"""

import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.harness.parts import CONTROLPLANE, DATAPLANE, PARTS, BuildError, Part

HEARTBEAT_SECONDS = 60
LOG_TAIL_LINES = 20

COMMAND_PACKAGES = {
    "ip": "iproute2",
    "ping": "iputils-ping",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
"""What the data plane needs from the system, and the Debian package that has it."""


def binaries(part: Part) -> Mapping[str, Path]:
    """Return where each binary of the part is, building what is in no cache yet.

    For the control plane, binaries in the folder that ``KUBEBUILDER_ASSETS`` names come first;
    those that are not there (it usually has no controller-manager) are built all the same.

    Raises:
        BuildError: Go is missing, or the build failed.
    """
    given = _given_assets(part)
    wanted = {name: package for name, package in part.packages.items() if name not in given}
    if not wanted:
        return given
    folder = _cached_or_built(part, wanted)
    return {**{name: folder / name for name in (*wanted, *part.links)}, **given}


def ensure_commands() -> None:
    """Install the system commands of the data plane that are missing, with apt-get as root.

    Raises:
        BuildError: Some are missing and cannot be installed from here.
    """
    missing = sorted({p for command, p in COMMAND_PACKAGES.items() if not _has(command)})
    if not missing:
        return
    if os.geteuid() != 0 or not _has("apt-get"):
        raise BuildError(
            f"the data plane tests need {', '.join(missing)}: install as root, then run again"
        )
    say(f"installing {', '.join(missing)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-q", "-y", *missing]):
        done = subprocess.run(
            ["apt-get", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise BuildError(f"apt-get {' '.join(arguments)} failed: {''.join(last)}")


def cache_folder() -> Path:
    """Return the folder that keeps what was built, for all checkouts of this user."""
    own = os.environ.get("RDMA_WEBHOOK_CACHE")
    if own:
        return Path(own).absolute()
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache").absolute() / "rdma-webhook"


def say(text: str) -> None:
    """Write one line for the person waiting, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _has(command: str) -> bool:
    return shutil.which(command) is not None


def _given_assets(part: Part) -> dict[str, Path]:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    if part is not CONTROLPLANE or not folder:
        return {}
    return {
        name: Path(folder).absolute() / name
        for name in part.packages
        if os.access(Path(folder) / name, os.X_OK)
    }


def _cached_or_built(part: Part, packages: Mapping[str, str]) -> Path:
    title = re.sub(r"\{(\S+?)\}", lambda found: part.version(found[1]), part.title)
    place = cache_folder() / f"{part.name}-{_key(part, packages)}"
    if place.is_dir():
        say(f"using cached {title}: {place}")
        return place / "bin"
    with _locked(place.with_name(f"{place.name}.lock")):
        if not place.is_dir():
            _build_into(place, part, packages, title)
    return place / "bin"


def _key(part: Part, packages: Mapping[str, str]) -> str:
    """Return a short hash of everything that the binaries depend on."""
    digest = hashlib.sha256()
    names = ("go.mod", "go.sum", *sorted(str(p) for p in part.folder.rglob("*.go")))
    for name in names:
        digest.update((part.folder / name).read_bytes())
    settings = (_go_version(), sorted(packages.items()), sorted(part.links.items()))
    digest.update(repr((settings, _link_flags(part))).encode())
    return digest.hexdigest()[:12]


def _go_version() -> str:
    if not _has("go"):
        raise BuildError(
            "Go is needed to build the control plane and data plane: install Go 1.26 or later"
        )
    command = ["go", "version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextlib.contextmanager
def _locked(lock: Path) -> Iterator[None]:
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build that holds {lock}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _build_into(place: Path, part: Part, packages: Mapping[str, str], title: str) -> None:
    say(f"building {title}: {part.estimate} the first time, on two cores")
    for left_over in place.parent.glob(f"{place.name}.building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    started = time.monotonic()
    temporary = Path(tempfile.mkdtemp(prefix=f"{place.name}.building-", dir=place.parent))
    try:
        _go_build(part, packages, temporary)
        temporary.chmod(0o755)
        temporary.rename(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    say(f"… done in {_duration(time.monotonic() - started)}: {place}")


def _go_build(part: Part, packages: Mapping[str, str], folder: Path) -> None:
    output = folder / "bin"
    output.mkdir()
    command = ["go", "build", "-p", "2", "-buildvcs=false", "-ldflags", _link_flags(part)]
    _run_with_heartbeat(
        [*_nice(), *command, "-o", f"{output}/", *packages.values()],
        cwd=part.folder,
        log=folder / "build.log",
    )
    for name, package in packages.items():
        built = output / _output_name(package)
        if built.name != name:
            built.rename(output / name)
    for name, target in part.links.items():
        (output / name).symlink_to(target)


def _link_flags(part: Part) -> str:
    """Return linker flags; without the versions a Kubernetes binary thinks it is v0.0.0."""
    if part.version_module is None:
        return "-s -w"
    version = part.version(part.version_module)
    major, minor = version.removeprefix("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    stamps = [f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items()]
    return " ".join(["-s -w", *stamps])


def _output_name(package: str) -> str:
    """Return the file name that ``go build -o folder/`` chooses: a trailing ``/v3`` is no name."""
    last, *before = reversed(package.split("/"))
    return before[0] if re.fullmatch(r"v\d+", last) and before else last


def _nice() -> Sequence[str]:
    return ["nice", "-n", "10"] if _has("nice") else []


def _run_with_heartbeat(command: Sequence[str], *, cwd: Path, log: Path) -> None:
    environment = {"HOME": str(Path.home()), **os.environ}
    started = time.monotonic()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            while True:
                try:
                    status = process.wait(timeout=HEARTBEAT_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    say(f"… still building after {_duration(time.monotonic() - started)}")
        except BaseException:
            process.terminate()
            raise
    if status != 0:
        lines = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        raise BuildError(
            "\n".join([f"go build failed in {cwd} (exit {status}); its last lines:", *lines])
        )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the parts named on the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness.build", description=__doc__)
    parser.add_argument("part", nargs="?", choices=[*PARTS, "all"], default="all")
    chosen = parser.parse_args(arguments).part
    parts = PARTS.values() if chosen == "all" else [PARTS[chosen]]
    try:
        for part in parts:
            binaries(part)
            if part is DATAPLANE:
                ensure_commands()
    except BuildError as err:
        sys.stderr.write(f"{err}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
