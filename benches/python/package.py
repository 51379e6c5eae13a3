"""What the package costs: import time, modules, size."""

from __future__ import annotations

import statistics
import subprocess
import sys
import zipfile
from resource import RUSAGE_CHILDREN, getrusage

from harness import ROOT, Run, seconds, table

TITLE = "Import and size"
ABOUT = """
The time that `import scoregate` adds to a bare interpreter: the CPU time of a process that imports
it less that of one that does not, and the wall time of the statement itself; medians over many
processes.
"""
TIMED = (
    "import time; start = time.perf_counter(); import scoregate; print(time.perf_counter() - start)"
)
LOADED = (
    "import sys; before = set(sys.modules); import scoregate; "
    "print(*sorted(set(sys.modules) - before))"
)


def python(code: str) -> tuple[str, float]:
    """Runs a program: what it prints, and its CPU seconds."""
    before = getrusage(RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    after = getrusage(RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(run: Run) -> str:
    count = 15 if run.quick else 61
    bare, imported, statement = [], [], []
    for _ in range(count):
        bare.append(python("pass")[1])
        imported.append(python("import scoregate")[1])
        statement.append(float(python(TIMED)[0]))
    added = statistics.median(imported) - statistics.median(bare)
    modules = python(LOADED)[0].split()
    own = [name for name in modules if name.startswith("scoregate")]
    others = [f"`{name}`" for name in modules if name not in own]
    lines = [
        ["CPU of a bare interpreter", seconds(statistics.median(bare))],
        ["CPU that `import scoregate` adds", seconds(max(added, 0.0))],
        ["wall time of `import scoregate`", seconds(statistics.median(statement))],
        ["modules that it loads", f"{len(own)} own, {len(others)} of the standard library"],
    ]
    for wheel in sorted(ROOT.glob("dist/*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            native = sum(i.file_size for i in archive.infolist() if "_native" in i.filename)
        lines.append(["wheel", f"{wheel.stat().st_size / 1e6:.2f} MB"])
        lines.append(["native module in it", f"{native / 1e6:.2f} MB"])
    note = f"\nFrom the standard library: {', '.join(others)}.\n" if others else ""
    return table(["", ""], lines) + note
