//! Each operator of a plan, by the smallest prepared query that runs it over some thousand rows.

use std::path::Path;
use std::sync::Arc;

use criterion::Criterion;
use engraph::{Durability, Engraph, FixedEmbedder, Options, import};

use super::{Result, draw};

const NODES: u64 = 1_000;
const FACTS: u64 = 10;

/// An operator and a query that does little but run it.
const QUERIES: [(&str, &str); 21] = [
    ("node lookup", "MATCH (a:Person {key: 'p7'}) RETURN count(*)"),
    ("node scan", "MATCH (a:Person) RETURN count(*)"),
    ("index scan", "MATCH (a:Person) WHERE a.place = 7 RETURN count(*)"),
    ("expand", "MATCH (a:Person)-[f:knows]->(b) RETURN count(*)"),
    ("expand, one node", "MATCH (a:Person {key: 'p7'})-[f:knows]->(b) RETURN id(b), f.confidence"),
    ("filter", "MATCH (a:Person) WHERE a.place % 3 = 0 RETURN count(*)"),
    ("project", "MATCH (a:Person) RETURN a.place + 1 AS n"),
    ("sort", "MATCH (a:Person) RETURN a.place AS n ORDER BY n DESC"),
    ("sort, first ten", "MATCH (a:Person) RETURN a.place AS n ORDER BY n DESC LIMIT 10"),
    ("slice", "MATCH (a:Person)-[f:knows]->(b) RETURN b.key SKIP 100 LIMIT 10"),
    ("distinct", "MATCH (a:Person) RETURN DISTINCT a.place % 10 AS n"),
    ("distinct ends", "MATCH (a:Person)-[f:knows]->(b) RETURN DISTINCT id(b)"),
    ("aggregate", "MATCH (a:Person) RETURN a.place % 10 AS n, count(*), sum(a.place)"),
    ("union", "MATCH (a:Person) RETURN id(a) UNION ALL MATCH (a:Person) RETURN id(a)"),
    ("unwind", "UNWIND range(1, 1000) AS n RETURN count(n)"),
    ("optional match", "MATCH (a:Person) OPTIONAL MATCH (a)-[f:likes]->(b) RETURN count(b)"),
    ("subquery", "MATCH (a:Person) WHERE EXISTS { (a)-[:knows]->(:Person) } RETURN count(*)"),
    ("walk", "MATCH (a:Person {key: 'p7'})-[f:knows]->{1,3}(b) RETURN count(*)"),
    (
        "shortest",
        "MATCH p = ANY SHORTEST (a:Person {key: 'p7'})-[f:knows]->{1,4}(b:Person {key: 'p9'}) \
      RETURN length(p)",
    ),
    (
        "beam",
        "MATCH (a:Person {key: 'p7'}) MATCH BEAM 5 p = (a)-[f]->{3,3}(x) EXPAND 5 \
      SCORE BY confidence(p) RETURN length(p)",
    ),
    (
        "activate",
        "MATCH (a:Person {key: 'p7'}) ACTIVATE c FROM a VIA knows HOPS 2 TOP 10 RETURN c.key",
    ),
];

pub(crate) fn run(criterion: &mut Criterion) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let db = graph(folder.path())?;
    for (name, text) in QUERIES {
        let query = db.prepare(text).map_err(|error| format!("{name}: {error}"))?;
        let rows = query.query(()).map_err(|error| format!("{name}: {error}"))?;
        if rows.rows.is_empty() {
            return Err(format!("{name} has no rows").into());
        }
        criterion.bench_function(&format!("operator, {name}"), |bench| {
            bench.iter(|| query.query(()));
        });
    }
    Ok(())
}

fn graph(folder: &Path) -> Result<Engraph> {
    let db = Options::new()
        .durability(Durability::Buffered)
        .embedder(Arc::new(FixedEmbedder))
        .open(folder.join("graph"))?;
    let mut lines = String::new();
    for place in 0..NODES {
        lines += &format!(
            r#"{{"node":{{"label":"Person","key":"p{place}","properties":{{"place":{place}}}}}}}"#
        );
        lines.push('\n');
    }
    for fact in 0..NODES * FACTS {
        let (head, tail) = (fact / FACTS, draw(fact) % NODES);
        let sure = (draw(fact) % 100 + 1) as f64 / 100.0;
        lines += &format!(
            r#"{{"head":{{"label":"Person","key":"p{head}"}},"relation":"knows","tail":{{"label":"Person","key":"p{tail}"}},"confidence":{sure}}}"#
        );
        lines.push('\n');
    }
    let file = folder.join("facts.jsonl");
    std::fs::write(&file, lines)?;
    let report = import::jsonl(&db, &file, &mut |_, _| ())?;
    match report.refused.first() {
        Some(refused) => Err(refused.reason.clone().into()),
        None => {
            db.execute("DEFINE INDEX places FOR (p:Person) ON p.place", ())?;
            Ok(db)
        }
    }
}
