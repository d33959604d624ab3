"""Prints lines by folder and what the working change adds; fails above the budget.

``python tools/size.py`` counts the files that git knows or would add; the budget is for src/, and
stubs are not counted, since they are generated. ``python tools/size.py --wheel dist`` weighs the
wheel in a folder instead, packed and as it is installed, with byte code.
"""

from __future__ import annotations

import argparse
import marshal
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = {".py": "Python", ".cpp": "C++", ".h": "C++", ".def": "C++"}
BUDGET = {"Python": 59_700, "C++": 42_050}  # lines under src/
WHEEL_LIMIT, INSTALLED_LIMIT = 5_000_000, 15_000_000  # bytes
NO_COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's name of the empty tree


def git(*arguments: str) -> list[str]:
    """Give the lines that a git command prints; none where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def folder_of(path: str) -> str:
    """Give the folder that a file is counted under: three levels at most."""
    return "/".join(Path(path).parts[:-1][:3]) or "."


def source_files() -> list[str]:
    """Give every source file that is or would be in the repository."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard")
    return [name for name in names if Path(name).suffix in LANGUAGES and (ROOT / name).is_file()]


def count_lines() -> dict[str, Counter[str]]:
    """Count lines by folder and language."""
    folders: dict[str, Counter[str]] = {}
    for name in source_files():
        lines = len((ROOT / name).read_text().splitlines())
        folders.setdefault(folder_of(name), Counter())[LANGUAGES[Path(name).suffix]] += lines
    return folders


def count_change() -> Counter[str]:
    """Count the lines that the working tree adds to HEAD, less those that it removes."""
    base = "HEAD" if git("rev-parse", "--verify", "-q", "HEAD") else NO_COMMIT
    change: Counter[str] = Counter()
    for line in git("diff", "--numstat", base):
        added, removed, name = line.split("\t", 2)
        if Path(name).suffix in LANGUAGES and added != "-":
            change[LANGUAGES[Path(name).suffix]] += int(added) - int(removed)
    for name in git("ls-files", "--others", "--exclude-standard"):
        if Path(name).suffix in LANGUAGES:
            change[LANGUAGES[Path(name).suffix]] += len((ROOT / name).read_text().splitlines())
    return change


def check_sources() -> bool:
    """Print the tables; tell whether src/ is within its budget."""
    folders = count_lines()
    print(f"{'lines':<24}{'Python':>8}{'C++':>8}")
    for folder in sorted(folders):
        print(f"{folder:<24}{folders[folder]['Python']:>8,}{folders[folder]['C++']:>8,}")
    change = count_change()
    print(f"{'this change':<24}{change['Python']:>+8,}{change['C++']:>+8,}")
    is_within = True
    for language, limit in BUDGET.items():
        total = sum(lines[language] for folder, lines in folders.items() if folder[:3] == "src")
        print(f"src/ {language}: {total:,} of {limit:,} lines")
        is_within &= total <= limit
    return is_within


def byte_code(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> int:
    """Give the bytes of what an installer compiles a module to."""
    if not entry.filename.endswith(".py"):
        return 0
    code = compile(archive.read(entry), entry.filename, "exec", dont_inherit=True)
    return len(marshal.dumps(code)) + 16


def check_wheel(folder: Path) -> bool:
    """Print what each wheel weighs; tell whether all are within the limit."""
    wheels = sorted(folder.glob("*.whl"))
    is_within = bool(wheels)
    for wheel in wheels:
        packed = wheel.stat().st_size
        with zipfile.ZipFile(wheel) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            unpacked += sum(byte_code(archive, entry) for entry in archive.infolist())
        print(f"{wheel.name}: {packed / 1e6:.2f} MB, installed {unpacked / 1e6:.2f} MB")
        is_within &= packed <= WHEEL_LIMIT and unpacked <= INSTALLED_LIMIT
    if not wheels:
        print(f"no wheel in {folder}")
    return is_within


def main() -> int:
    """Run the check that the arguments ask for; 1 if it fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, metavar="FOLDER", help="weigh the wheels in a folder")
    wheel: Path | None = parser.parse_args().wheel
    is_within = check_sources() if wheel is None else check_wheel(wheel)
    if not is_within:
        print("above the budget", file=sys.stderr)
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
