#!/usr/bin/env python3
"""The load of `engraph bench workload` and those of other embedded databases, in turns.

    engraph bench workload --facts 100000 --keep DIR --json engraph.json
    python3 loads.py DIR --engraph target/release/engraph --json loads.json

A machine that others use is twice as fast in one minute as in the next, and one load of each says little
there. It reads the facts that the first command left in DIR and loads them several times into new
databases, each in turn: Engraph by its own command, SQLite and DuckDB (left out where it is missing) as
peers.py does. Entities are there before the facts, and no time counts that makes them. Milliseconds.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from peers import Duckdb, Sqlite, Vectors, facts_of, numbers_file, tell


def engraph(command, folder, facts):
    """Milliseconds of a load, in a process of its own, into a folder that has the table of facts."""
    phase = [command, "bench", "workload", "--facts", str(len(facts)), "--phase", "load", "--keep", folder]
    done = subprocess.run(phase, stdout=subprocess.PIPE, check=True)
    shutil.rmtree(os.path.join(folder, "facts.engraph"))
    return 1e3 * json.loads(done.stdout)["seconds"]


def peer(make, folder, plain, facts, vectors):
    """Milliseconds of a load of a file of numbers by a peer whose database is gone then."""
    inside = tempfile.mkdtemp(dir=folder)
    database = make(inside)
    database.keep(vectors.made)
    seconds, by = database.load_file(plain)
    if database.ask("SELECT count(*) FROM fact", ()) != [(len(facts),)]:
        sys.exit(f"{by} did not load every fact")
    database.db.close()
    shutil.rmtree(inside)
    return 1e3 * seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="the folder of engraph bench workload --keep")
    parser.add_argument("--engraph", required=True, metavar="COMMAND", help="the command, a release build")
    parser.add_argument("--rounds", type=int, default=5, help="loads of each (5)")
    parser.add_argument("--json", help="where the figures go; stdout if it is left out")
    given = parser.parse_args()
    facts = facts_of(given.folder)
    vectors = Vectors(len(facts) // 10)
    folder = tempfile.mkdtemp(dir=given.folder)
    shutil.copy(os.path.join(given.folder, "facts.csv"), folder)
    plain = numbers_file(folder, facts)
    loads = {
        "Engraph": lambda: engraph(given.engraph, folder, facts),
        "SQLite": lambda: peer(Sqlite, folder, plain, facts, vectors),
        "DuckDB": lambda: peer(Duckdb, folder, plain, facts, vectors),
    }
    taken = {name: [] for name in loads}
    try:
        for turn in range(given.rounds):
            for name in list(taken):
                try:
                    taken[name].append(round(loads[name]()))
                except ImportError as error:
                    print(f"{name} is left out: {error}", file=sys.stderr)
                    del taken[name]
            print({name: each[turn] for name, each in taken.items()}, file=sys.stderr)
    finally:
        shutil.rmtree(folder)
    own = statistics.median(taken["Engraph"])
    medians = {name: statistics.median(each) for name, each in taken.items()}
    ratios = {name: round(median / own, 2) for name, median in medians.items()}
    tell({"facts": len(facts), "ms": taken, "median_ms": medians, "to_engraph": ratios}, given.json)


if __name__ == "__main__":
    main()
