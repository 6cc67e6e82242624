"""The image: what its recipe installs and copies."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")


def _installs() -> list[list[str]]:
    return [found.split() for found in re.findall(r"bin/python install (.*)", RECIPE)]


def test_the_image_holds_the_pinned_versions() -> None:
    """Requirements by their hashes; then the product, which can bring in nothing else."""
    pinned, product = _installs()
    assert {"--require-hashes", "--requirement", "requirements.txt"} <= set(pinned)
    assert {"--no-deps", "--no-build-isolation", "."} <= set(product)


def test_the_builder_sees_what_is_copied() -> None:
    """Every source of COPY is there, and let through by .dockerignore."""
    let_through = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = {
        source
        for line in re.findall(r"^COPY (?!--)(.*)", RECIPE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == let_through
    assert all((ROOT / source).exists() for source in copied)
