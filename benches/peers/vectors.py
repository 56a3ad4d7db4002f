#!/usr/bin/env python3
"""The vectors of `engraph bench vectors` in other libraries, in the same run.

    engraph bench vectors --keep DIR --json engraph.json
    python3 vectors.py DIR --json peers.json

It reads the vectors and the exact answers that the first command left in DIR, and asks what is
installed of hnswlib, usearch and faiss (`pip install hnswlib usearch faiss-cpu numpy`) for the ten
nearest by cosine, at several breadths of search. One thread asks; both cores build. Of each question the
least of three passes counts.
"""

import argparse
import os
import sys
import time

import numpy

from peers import figures, tell, timed

DIMENSIONS = 384
TOP = 10
BREADTHS = (16, 32, 64, 128, 256)
PASSES = 3
THREADS = os.cpu_count()


class Hnswlib:
    name = "hnswlib"

    def __init__(self, base):
        import hnswlib

        self.index = hnswlib.Index(space="ip", dim=DIMENSIONS)
        self.index.init_index(max_elements=len(base), M=16, ef_construction=200)
        self.index.set_num_threads(THREADS)
        self.index.add_items(base)
        self.index.set_num_threads(1)

    def breadth(self, ef):
        self.index.set_ef(ef)

    def ask(self, query):
        return self.index.knn_query(query, TOP)[0][0]


class Usearch:
    name = "usearch"

    def __init__(self, base):
        from usearch.index import Index

        make = dict(ndim=DIMENSIONS, metric="ip", dtype="f32", connectivity=16, expansion_add=200)
        self.index = Index(**make)
        self.index.add(numpy.arange(len(base)), base, threads=THREADS)

    def breadth(self, ef):
        self.index.expansion_search = ef

    def ask(self, query):
        return self.index.search(query, TOP, threads=1).keys


class Faiss:
    name = "faiss"

    def __init__(self, base):
        import faiss

        faiss.omp_set_num_threads(THREADS)
        self.index = faiss.IndexHNSWFlat(DIMENSIONS, 16, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = 200
        self.index.add(base)
        faiss.omp_set_num_threads(1)

    def breadth(self, ef):
        self.index.hnsw.efSearch = ef

    def ask(self, query):
        return self.index.search(query[None, :], TOP)[1][0]


def measure(peer, queries, exact):
    least, found = [float("inf")] * len(queries), 0
    for turn in range(PASSES):
        for place, query in enumerate(queries):
            taken, answer = timed(lambda: peer.ask(query))
            least[place] = min(least[place], taken)
            if turn == 0:
                found += len(set(map(int, answer)) & exact[place])
    return figures(least) | {"recall": round(found / (len(queries) * TOP), 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="the folder of engraph bench vectors --keep")
    parser.add_argument("--json", help="where the figures go; stdout if it is left out")
    given = parser.parse_args()
    read = lambda name, kind: numpy.fromfile(os.path.join(given.folder, name), dtype=kind)
    base = read("base.f32", "<f4").reshape(-1, DIMENSIONS)
    queries = read("queries.f32", "<f4").reshape(-1, DIMENSIONS)
    exact = [set(map(int, ids)) for ids in read("exact.u64", "<u8").reshape(-1, TOP)]
    reports = []
    for make in (Hnswlib, Usearch, Faiss):
        start = time.perf_counter()
        try:
            peer = make(base)
        except ImportError as error:
            print(f"{make.name} is left out: {error}", file=sys.stderr)
            continue
        report = {"name": peer.name, "vectors_per_s": round(len(base) / (time.perf_counter() - start))}
        report["points"] = []
        for ef in BREADTHS:
            peer.breadth(ef)
            report["points"].append(measure(peer, queries, exact) | {"ef": ef})
            print(f"{peer.name}: {report['points'][-1]}", file=sys.stderr)
        reports.append(report)
    tell(reports, given.json)


if __name__ == "__main__":
    main()
