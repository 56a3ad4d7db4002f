#!/usr/bin/env python3
"""The work of `engraph bench workload` on other embedded databases, in the same run.

    engraph bench workload --facts 100000 --keep DIR --json engraph.json
    python3 peers.py DIR --against engraph.json --json peers.json

It reads the facts and the questions that the first command left in DIR, asks them in SQLite (which
comes with Python) and in DuckDB (`pip install duckdb`; left out where it is missing), fails unless the
answers have the rows and checksums of the first command, which has checked its own, and takes times as it says: 100 instances to
warm up, three passes, the least of each instance. Entities with their names and vectors are there before
the facts, and count among the bytes. Facts are loaded from a file of numbers: by SQLite's own shell, or
by Python where that is missing, and by DuckDB itself; SQLite makes its index of tails behind the rows,
which takes less. `rows_per_s` is what SQLite does with rows that were read before. Writes begin on a new
connection. `disk_packed` is SQLite's file after VACUUM, `disk_whole` the file with what a fact of Engraph
has besides, its source, and since and until when it was believed, and `disk_whole_packed` that after
VACUUM. `noop` is what the binding itself costs. Where numpy is there, the vectors of a beam are multiplied
by it, all of a node's tails at once.
"""

import argparse
import csv
import json
import os
import shutil
import sqlite3
import statistics
import struct
import subprocess
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
OPEN = 253402300799
CONFIDENT = 820
INTENTS = {"fact": 0, "causal": 1, "temporal": 2, "contrast": 3, "evolution": 4}
PASSES = 3
PATIENCE = 120.0


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def draw(seed, n):
    return mix((seed + (n + 1) * GOLDEN) & MASK)


def hashed(row):
    value = 0
    for column in row:
        value = mix(((value ^ (column & MASK)) + GOLDEN) & MASK)
    return value


def vector(seed, thing):
    return [draw(seed, 64 * thing + a) % 255 - 127 for a in range(64)]


def seconds(text):
    """Epoch seconds of `2020-01-01T00:21:23Z`."""
    if not text:
        return OPEN
    return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone)


def facts_of(folder):
    """(h, r, t, vf, vt, k, intent) in the order of the file; a later value closes an earlier one."""
    facts, current = [], {}
    with open(os.path.join(folder, "facts.csv"), newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for head, tail, relation, start, end, sure, intent in rows:
            h, r, t = int(head[1:]), int(relation[1:]), int(tail[1:])
            k = round(float(sure) * 1024)
            vf = seconds(start)
            if r < 8:
                before = current.get((h, r))
                if before is not None:
                    facts[before][4] = vf
                current[h, r] = len(facts)
            facts.append([h, r, t, vf, seconds(end), k, INTENTS[intent]])
    return facts


def questions_of(folder):
    questions = {}
    with open(os.path.join(folder, "questions.csv"), newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for name, *numbers in rows:
            questions.setdefault(name, []).append(tuple(map(int, numbers)))
    return questions


def numbers_file(folder, facts):
    """The facts as a table without names, for a peer to read."""
    path = os.path.join(folder, "peer.csv")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(facts)
        file.flush()
        os.fsync(file.fileno())
    return path


class Sqlite:
    """A clustered table, an index of tails, the write-ahead log; entities by their numbers."""

    name = "SQLite " + sqlite3.sqlite_version
    SET = (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA cache_size = -262144",
        "PRAGMA mmap_size = 1073741824",
    )
    INDEX = "CREATE INDEX by_tail ON fact (t)"
    CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"

    def __init__(self, folder, name="peer.sqlite"):
        self.folder = folder
        self.path = os.path.join(folder, name)
        self.remove()
        self.connect()

    def remove(self):
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.remove(self.path + end)

    def connect(self):
        self.db = sqlite3.connect(self.path, isolation_level=None, cached_statements=256)
        for pragma in self.SET:
            self.db.execute(pragma)

    def keep(self, vectors):
        self.vectors = vectors
        self.db.execute("CREATE TABLE entity (id INTEGER PRIMARY KEY, name TEXT, vector BLOB)")
        rows = ((x, f"e{x}", struct.pack("<64b", *v)) for x, v in enumerate(vectors))
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO entity VALUES (?, ?, ?)", rows)
        self.db.execute("COMMIT")
        self.db.execute(self.CHECKPOINT)

    def load(self, facts):
        """From rows in memory, into a database that is dropped again, and from a file."""
        scratch = Sqlite(self.folder, "peer-scratch.sqlite")
        scratch.keep(self.vectors)
        rows = scratch.load_rows(facts)
        sizes = scratch.drop()
        file, by = self.load_file(numbers_file(self.folder, facts))
        if self.ask("SELECT count(*) FROM fact", ()) != [(len(facts),)]:
            sys.exit(f"{by} did not load every fact")
        self.db.execute("ANALYZE")
        return {"facts": file, "rows": rows}, {"by": by, "disk_packed": sizes[1]}

    def make_table(self, more=""):
        self.db.execute(
            "CREATE TABLE fact (h INTEGER, r INTEGER, t INTEGER, vf INTEGER, vt INTEGER, k INTEGER,"
            f" i INTEGER, {more} PRIMARY KEY (h, r, vf, t)) WITHOUT ROWID"
        )

    def load_rows(self, rows, more="", columns=7):
        self.make_table(more)
        begin = time.perf_counter()
        self.db.execute("BEGIN")
        self.db.executemany(f"INSERT INTO fact VALUES ({', '.join('?' * columns)})", rows)
        self.db.execute(self.INDEX)
        self.db.execute("COMMIT")
        self.db.execute(self.CHECKPOINT)
        return time.perf_counter() - begin

    def load_file(self, plain):
        shell = shutil.which("sqlite3")
        if not shell:
            with open(plain, newline="") as file:
                return self.load_rows(csv.reader(file)), "Python"
        self.make_table()
        self.db.close()
        load = [".mode csv", f'.import "{plain}" fact', f"{self.INDEX};", f"{self.CHECKPOINT};"]
        taken = self.shell(shell, load) - self.shell(shell, [])
        self.connect()
        return taken, "its shell"

    def shell(self, shell, lines):
        """Seconds that SQLite's shell takes for its settings and these lines."""
        script = "\n".join([*(f"{line};" for line in self.SET), *lines, ""]).encode()
        begin = time.perf_counter()
        subprocess.run([shell, self.path], input=script, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin

    def whole(self, facts):
        """Bytes with what a fact of Engraph has besides, as they come and packed."""
        scratch = Sqlite(self.folder, "peer-scratch.sqlite")
        scratch.keep(self.vectors)
        now = time.time_ns() // 1000
        rows = ((*fact, f"facts.csv:{line}", now, None) for line, fact in enumerate(facts, 2))
        scratch.load_rows(rows, "source TEXT, since INTEGER, until INTEGER,", 10)
        as_it_is, packed = scratch.drop()
        return {"disk_whole": as_it_is, "disk_whole_packed": packed}

    def drop(self):
        """Its bytes, as they are and packed; it is gone then."""
        as_it_is = self.disk()
        self.db.execute("VACUUM")
        self.db.execute(self.CHECKPOINT)
        packed = self.disk()
        self.db.close()
        self.remove()
        return as_it_is, packed

    def ask(self, sql, arguments):
        return self.db.execute(sql, arguments).fetchall()

    def writer(self, synced):
        """From now on one that writes, with nothing read before."""
        self.db.close()
        self.connect()
        self.db.execute(f"PRAGMA synchronous = {'FULL' if synced else 'OFF'}")

    def write(self, fact):
        h, r, _, vf = fact[:4]
        self.db.execute("BEGIN IMMEDIATE")
        if r < 8:
            self.db.execute(
                f"UPDATE fact SET vt = ? WHERE h = ? AND r = ? AND vt = {OPEN}", (vf, h, r)
            )
        self.db.execute("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?)", fact)
        self.db.execute("COMMIT")

    def disk(self):
        return sum(
            os.path.getsize(self.path + end) for end in ("", "-wal") if os.path.exists(self.path + end)
        )


class Duckdb:
    """Columns, as it comes; an index is worth nothing to it here."""

    def __init__(self, folder):
        import duckdb

        self.name = "DuckDB " + duckdb.__version__
        self.path = os.path.join(folder, "peer.duckdb")
        if os.path.exists(self.path):
            os.remove(self.path)
        self.db = duckdb.connect(self.path)
        self.folder = folder

    def keep(self, vectors):
        plain = os.path.join(self.folder, "peer-entities.csv")
        with open(plain, "w", newline="") as file:
            csv.writer(file).writerows((x, f"e{x}", v) for x, v in enumerate(vectors))
        self.db.execute("CREATE TABLE entity (id INTEGER, name VARCHAR, vector TINYINT[64])")
        self.db.execute(f"COPY entity FROM '{plain}' (HEADER false)")
        self.db.execute("CHECKPOINT")

    def load(self, facts):
        seconds, _ = self.load_file(numbers_file(self.folder, facts))
        return {"facts": seconds}, {}

    def load_file(self, plain):
        self.db.execute(
            "CREATE TABLE fact (h INTEGER, r UTINYINT, t INTEGER, vf BIGINT, vt BIGINT, k USMALLINT,"
            " i UTINYINT)"
        )
        begin = time.perf_counter()
        self.db.execute(f"COPY fact FROM '{plain}' (HEADER false)")
        self.db.execute("CHECKPOINT")
        return time.perf_counter() - begin, "itself"

    def ask(self, sql, arguments):
        return self.db.execute(sql, arguments).fetchall()

    def disk(self):
        return os.path.getsize(self.path)


VALID = "{a}.vf <= ? AND {a}.vt > ?"
SURE = VALID + f" AND {{a}}.k >= {CONFIDENT}"
TWO = (
    "WITH one AS MATERIALIZED (SELECT DISTINCT t FROM fact f WHERE f.h = ? AND "
    + SURE.format(a="f")
    + ") SELECT DISTINCT f.t FROM one JOIN fact f ON f.h = one.t WHERE "
    + SURE.format(a="f")
)
THREE = (
    "WITH one AS MATERIALIZED (SELECT DISTINCT t FROM fact f WHERE f.h = ? AND "
    + SURE.format(a="f")
    + "), two AS MATERIALIZED (SELECT DISTINCT f.t AS t FROM one JOIN fact f ON f.h = one.t WHERE "
    + SURE.format(a="f")
    + ") SELECT count(DISTINCT f.t) FROM two JOIN fact f ON f.h = two.t WHERE "
    + SURE.format(a="f")
)
HOP = f"SELECT r, t, k, vf FROM fact f WHERE h = ? AND {SURE.format(a='f')}"

# What is asked, with which arguments of (entity, relation, from, to), and which columns are hashed.
ASKED = {
    "q1": (
        f"SELECT t, k FROM fact f WHERE h = ? AND r = ? AND {VALID.format(a='f')}",
        lambda e, r, a, b: (e, r, a, a),
    ),
    "q3": (
        f"SELECT r, t, k FROM fact f WHERE h = ? AND {SURE.format(a='f')}",
        lambda e, r, a, b: (e, a, a),
    ),
    "q3r": (
        f"SELECT r, h, k FROM fact f WHERE t = ? AND {SURE.format(a='f')}",
        lambda e, r, a, b: (e, a, a),
    ),
    "q4": (TWO, lambda e, r, a, b: (e, a, a, a, a)),
    "q5": (THREE, lambda e, r, a, b: (e, a, a, a, a, a, a)),
    "q6": (
        "SELECT t, vf, vt, k FROM fact WHERE h = ? AND r = ? ORDER BY vf",
        lambda e, r, a, b: (e, r),
    ),
    "q7": (
        "SELECT r, t, vf, vt, k FROM fact WHERE h = ? AND vf < ? AND vt > ?",
        lambda e, r, a, b: (e, b, a),
    ),
}
ASKED["q2"] = ASKED["q1"]


def beam(peer, vectors, along, entity, at):
    """Width 5, depth 3, 5 of each path; ties go to the lower sequence of vf."""
    paths = [(0, (), (entity,))]
    for _ in range(3):
        pool = []
        for score, begun, nodes in paths:
            edges = [edge for edge in peer.ask(HOP, (nodes[-1], at, at)) if edge[1] not in nodes]
            dots = vectors.dots([edge[1] for edge in edges], along)
            near = [
                (-(score + k * dot), begun + (vf,), nodes + (t,))
                for (_, t, k, vf), dot in zip(edges, dots)
            ]
            near.sort()
            pool.extend(near[:5])
        pool.sort()
        paths = [(-score, begun, nodes) for score, begun, nodes in pool[:5]]
    return [(rank, score, *nodes[1:]) for rank, (score, _, nodes) in enumerate(paths)]


class Vectors:
    """Vectors of entities; a table of them where numpy is there."""

    def __init__(self, entities):
        self.made = [vector(64001, entity) for entity in range(entities)]
        self.table = numpy.array(self.made, dtype=numpy.int64) if numpy else None

    def dots(self, entities, along):
        if self.table is not None and entities:
            return (self.table[entities] @ numpy.array(along)).tolist()
        return [sum(a * b for a, b in zip(self.made[entity], along)) for entity in entities]


def figures(micros):
    ordered = sorted(micros)
    at = lambda share: ordered[min(int(share * len(ordered)), len(ordered) - 1)]
    return {
        "n": len(ordered),
        "p50": round(at(0.5), 3),
        "p95": round(at(0.95), 3),
        "p99": round(at(0.99), 3),
        "mean": round(statistics.fmean(ordered), 3),
        "min": round(ordered[0], 3),
    }


def timed(call):
    start = time.perf_counter_ns()
    answer = call()
    return (time.perf_counter_ns() - start) / 1e3, answer


def measure(peer, name, instances, vectors):
    if name == "q8":
        call = lambda i: (lambda: beam(peer, vectors, vector(64002, i[0]), i[1], i[3]))
    else:
        sql, arguments = ASKED[name]
        call = lambda i: (lambda: peer.ask(sql, arguments(*i[1:])))
    for instance in instances[900:]:
        call(instance)()
    least, rows, total, begin = [], 0, 0, time.monotonic()
    for turn in range(PASSES):
        for place, instance in enumerate(instances):
            asked = call(instance)
            taken, answer = timed(asked)
            if turn == 0:
                least.append(taken)
                if name == "q6":
                    answer = [(place, *row) for place, row in enumerate(answer)]
                rows += len(answer)
                total = mix(((total ^ len(answer)) + GOLDEN) & MASK)
                total = mix(((total ^ sum(map(hashed, answer)) & MASK) + GOLDEN) & MASK)
            else:
                least[place] = min(least[place], taken)
            if time.monotonic() - begin > PATIENCE:
                return figures(least) | {"rows": rows, "checksum": "broken off"}
    return figures(least) | {"rows": rows, "checksum": f"{total:016x}"}


def run(peer, facts, vectors, questions, written):
    report = {"name": peer.name, "facts": len(facts)}
    peer.keep(vectors.made)
    taken, more = peer.load(facts)
    report["load"] = {f"{what}_per_s": round(len(facts) / seconds) for what, seconds in taken.items()}
    report["load"] |= {"disk": peer.disk(), **more}
    if hasattr(peer, "whole"):
        report["load"] |= peer.whole(facts)
    print(f"{peer.name}: {report['load']}", file=sys.stderr)
    report["noop"] = figures([timed(lambda: peer.ask("SELECT 1", ()))[0] for _ in range(1000)])
    for name, instances in questions.items():
        report[name] = measure(peer, name, instances, vectors)
        print(f"{peer.name}: {name} {report[name]}", file=sys.stderr)
    if hasattr(peer, "write"):
        for phase, synced, part in (("durable", True, written[:1000]), ("fast", False, written[1100:2100])):
            peer.writer(synced)
            report[phase] = {"w2": figures([timed(lambda: peer.write(fact))[0] for fact in part])}
            print(f"{peer.name}: {phase} {report[phase]}", file=sys.stderr)
    return report


def wrong(reports, against):
    """Which answers are not those of the first command; what took too long has none."""
    expected = [(name, against[name]) for name in (*ASKED, "q8")]
    return [
        f"{report['name']}: {name}"
        for report in reports
        for name, right in expected
        if report[name]["checksum"] != "broken off"
        and any(report[name][what] != right[what] for what in ("rows", "checksum"))
    ]


def tell(reports, file):
    """Writes the figures as JSON, to stdout if there is no file."""
    text = json.dumps(reports, indent=2) + "\n"
    if not file:
        sys.stdout.write(text)
        return
    with open(file, "w") as out:
        out.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="the folder of engraph bench workload --keep")
    parser.add_argument("--against", required=True, help="what engraph bench workload --json wrote")
    parser.add_argument("--json", help="where the figures go; stdout if it is left out")
    parser.add_argument("--only", action="append", help="sqlite or duckdb; may be repeated")
    given = parser.parse_args()
    facts, questions = facts_of(given.folder), questions_of(given.folder)
    with open(os.path.join(given.folder, "written.csv"), newline="") as file:
        written = [tuple(map(int, row)) for row in csv.reader(file)]
    vectors, reports = Vectors(len(facts) // 10), []
    for name, make in (("sqlite", Sqlite), ("duckdb", Duckdb)):
        if given.only and name not in given.only:
            continue
        try:
            peer = make(given.folder)
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        reports.append(run(peer, facts, vectors, questions, written))
    tell(reports, given.json)
    with open(given.against) as file:
        differ = wrong(reports, json.load(file))
    if differ:
        sys.exit("other answers: " + ", ".join(differ))


if __name__ == "__main__":
    main()
