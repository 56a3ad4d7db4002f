//! Shortest paths in which a fact may be followed back, against every trail that there is.

use engraph::{Engraph, Rows};

use crate::model::Random;
use crate::{folder, open};

const NODES: usize = 6;

/// A small graph of facts, some beside each other and some from a node to itself.
fn random(db: &Engraph, random: &mut Random) {
    let mut text = String::from("DEFINE RELATION s SYMMETRIC;");
    for _ in 0..8 + random.below(3) {
        let (a, b) = (random.below(NODES), random.below(NODES));
        let relation = random.pick(&["r", "q", "s"]);
        text += &format!("REMEMBER (:P 'n{a}')-[{relation}]->(:P 'n{b}') VALID FROM null;");
    }
    db.execute(&text, ()).expect("writes");
}

/// Twenty nodes, each with a fact to each other.
fn dense(db: &Engraph) {
    let pairs = (0..20).flat_map(|a| (a + 1..20).map(move |b| (a, b)));
    let facts = pairs.map(|(a, b)| format!("REMEMBER (:P 'n{a}')-[r]->(:P 'n{b}');"));
    db.execute(&facts.collect::<String>(), ()).expect("writes");
}

fn asked(db: &Engraph, text: &str) -> Rows {
    db.query(text, ()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_shortest_of_all_trails_are_found_where_facts_may_be_followed_back() {
    for seed in 0..60 {
        let folder = folder();
        let db = open(folder.path());
        random(&db, &mut Random(seed));
        for pattern in ["-[f]-+", "-[f]->+"] {
            // The mode is of all paths, or of none but those that come back.
            for mode in ["", "ACYCLIC "] {
                let all = format!(
                    "MATCH p = {mode}(:P 'n0'){}(b) \
                     RETURN b.key AS b, length(p) AS l, count(*) AS n ORDER BY b, l",
                    pattern.replace('+', "{1,11}")
                );
                // Of each end the least length, and how many trails have it.
                let mut least = asked(&db, &all).rows;
                least.dedup_by(|other, first| other[0] == first[0]);
                let of = |search: &str, columns: &str| {
                    let text = format!("MATCH p = {search} {mode}(:P 'n0'){pattern}(b)");
                    asked(&db, &format!("{text} RETURN b.key AS b, {columns} ORDER BY b")).rows
                };
                let counted = of("ALL SHORTEST", "length(p) AS l, count(*) AS n");
                assert_eq!(counted, least, "{seed} {mode}{pattern} ALL SHORTEST");
                for search in ["ANY SHORTEST", "SHORTEST 1", "CHEAPEST 1 BY 1"] {
                    let found = of(search, "length(p) AS l");
                    let one = least.iter().map(|row| row[..2].to_vec());
                    assert_eq!(found, one.collect::<Vec<_>>(), "{seed} {mode}{pattern} {search}");
                }
            }
        }
    }
}

#[test]
fn a_dense_graph_without_arrows_is_not_walked_along_every_trail() {
    let folder = folder();
    let db = open(folder.path());
    dense(&db);
    for search in ["ANY SHORTEST", "SHORTEST 1", "ALL SHORTEST", "CHEAPEST 1 BY 1"] {
        let text =
            format!("MATCH p = {search} (:P 'n0')-[:r]-+(b) RETURN b.key AS b, length(p) AS l");
        let found = asked(&db, &format!("{text} ORDER BY l DESC"));
        // Back to where it began in three, over any two of the others.
        let back = if search == "ALL SHORTEST" { 19 * 18 } else { 1 };
        assert_eq!(found.rows.len(), 19 + back, "{search}");
        assert_eq!(found.get(0, "l"), Some(&3.into()), "{search}");
        assert_eq!(found.get(back, "l"), Some(&1.into()), "{search}");
    }
}

#[test]
fn a_search_between_two_named_nodes_ends_where_it_has_come() {
    let folder = folder();
    let db = open(folder.path());
    dense(&db);
    for search in ["SHORTEST 2", "SHORTEST 2 PATHS", "CHEAPEST 2 BY 1"] {
        let between = |ends: &str| {
            let text = format!("MATCH p = {search} {ends} RETURN length(p) AS l");
            asked(&db, &text).rows
        };
        let lengths = between("(:P 'n0')-[:r]-+(:P 'n7')");
        assert_eq!(lengths, [[1.into()], [2.into()]], "{search}");
        assert!(between("(:P 'n0')-[:r]-+(:P 'none')").is_empty(), "{search}");
        assert_eq!(between("(a:P {key: 'n0'})-[:r]-+(b:P {key: 'n7'})"), lengths, "{search}");
    }
}
