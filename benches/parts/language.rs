//! Texts to trees, back to texts, and to plans.

use std::hint::black_box;
use std::sync::Arc;

use criterion::Criterion;
use engraph::{Durability, FixedEmbedder, Options};

use super::Result;

/// A question as an agent asks it.
const HOP: &str = "MATCH (p:Person {key: $name})-[f:lives_in]->(c:City) \
    FOR VALID_TIME AS OF DATE '2025-06-01' WHERE f.confidence >= 0.8 RETURN c.key, f.confidence";
/// A question with many clauses.
const LONG: &str = "MATCH (p:Person)-[f:knows]->{1,3}(q:Person) WHERE p.key <> q.key AND \
    any(word IN $words WHERE q.key CONTAINS word) OPTIONAL MATCH (q)-[g:works_at]->(w:Place) \
    WITH p, q, collect(DISTINCT w.key) AS places, count(*) AS ways WHERE ways > 1 \
    CALL (q) { MATCH (q)-[h]->(x) RETURN count(x) AS facts } \
    RETURN p.key, q.key, places, ways, CASE WHEN facts > 10 THEN 'many' ELSE 'few' END AS size \
    ORDER BY ways DESC, p.key LIMIT 20";
const TEXTS: [(&str, &str); 2] = [("a hop", HOP), ("many clauses", LONG)];

pub(crate) fn run(criterion: &mut Criterion) -> Result<()> {
    for (name, text) in TEXTS {
        engraph_grammar::parse(text)?;
        criterion.bench_function(&format!("language, parse {name}"), |bench| {
            bench.iter(|| engraph_grammar::parse(black_box(text)));
        });
        let statements = engraph_grammar::parse(text)?;
        criterion.bench_function(&format!("language, print {name}"), |bench| {
            bench.iter(|| statements.iter().map(ToString::to_string).collect::<String>());
        });
    }
    let folder = tempfile::tempdir()?;
    let db = Options::new()
        .durability(Durability::Buffered)
        .embedder(Arc::new(FixedEmbedder))
        .open(folder.path())?;
    db.execute("REMEMBER (:Person 'Ann')-[knows]->(:Person 'Bob')", ())?;
    for (name, text) in TEXTS {
        let explain = format!("EXPLAIN {text}");
        db.query(&explain, [("name", "Ann")])?;
        criterion.bench_function(&format!("language, bind, plan and show {name}"), |bench| {
            bench.iter(|| db.query(black_box(&explain), [("name", "Ann")]));
        });
    }
    Ok(())
}
