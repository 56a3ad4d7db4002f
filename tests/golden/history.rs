//! Random writes against what was seen when they were made: the past does not change, both sides
//! of the graph agree, a ONE relation has at most one stable tail at a time, and a check finds nothing.

use engraph::{Engraph, Fact, Interval, Params, Value};
use proptest::prelude::*;

use crate::{folder, open};

/// One write: which head, relation and tail, from which day, for how long, how sure.
#[derive(Clone, Debug)]
enum Act {
    Assert {
        head: u8,
        relation: u8,
        tail: u8,
        from: u16,
        days: Option<u16>,
        tenths: u8,
        source: u8,
    },
    Retract {
        head: u8,
        tail: u8,
    },
    /// A head becomes a name of another one.
    Join {
        head: u8,
        into: u8,
    },
    /// It is one of its own again.
    Split {
        head: u8,
        from: u8,
    },
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    let assert = (0u8..3, 0u8..2, 0u8..4, 0u16..40, prop::option::of(1u16..20), 1u8..=10, 0u8..6)
        .prop_map(|(head, relation, tail, from, days, tenths, source)| Act::Assert {
            head,
            relation,
            tail,
            from,
            days,
            tenths,
            source,
        });
    let retract = (0u8..3, 0u8..4).prop_map(|(head, tail)| Act::Retract { head, tail });
    let join = (0u8..3, 0u8..3).prop_map(|(head, into)| Act::Join { head, into });
    let split = (0u8..3, 0u8..3).prop_map(|(head, from)| Act::Split { head, from });
    prop_oneof![12 => assert, 2 => retract, 2 => join, 1 => split, 1 => Just(Act::Reopen)]
}

const DAY: i64 = 86_400_000_000;

fn perform(db: &Engraph, act: &Act) {
    let done = match act {
        Act::Assert { head, relation, tail, from, days, tenths, source } => {
            let to = days.map_or(Value::Null, |days| {
                Value::Timestamp((i64::from(*from) + i64::from(days)) * DAY)
            });
            let params = Params::new()
                .with("h", format!("h{head}"))
                .with("t", format!("t{tail}"))
                .with("from", Value::Timestamp(i64::from(*from) * DAY))
                .with("to", to)
                .with("c", f64::from(*tenths) / 10.0)
                .with("s", format!("s{source}"));
            let relation = ["one", "many"][usize::from(*relation)];
            let text = format!(
                "REMEMBER (:H $h)-[{relation}]->(:T $t) VALID FROM $from TO $to \
                 CONFIDENCE $c SOURCE $s"
            );
            db.query(&text, params)
        }
        Act::Retract { head, tail } => db.query(
            "MATCH (:H {key: $h})-[f]->(:T {key: $t}) FOR VALID_TIME ALL RETRACT f",
            [("h", format!("h{head}")), ("t", format!("t{tail}"))],
        ),
        // There may be no such head, or it may be one already.
        Act::Join { head, into } => {
            let text = format!("ALIAS 'h{head}' OF (:H 'h{into}')");
            return drop(db.query(&text, ()));
        }
        Act::Split { head, from } => {
            let text = format!("SPLIT 'h{head}' FROM (:H 'h{from}')");
            return drop(db.query(&text, ()));
        }
        Act::Reopen => return,
    };
    done.expect("writes");
}

/// All that is believed at an instant, by one side of the graph or by the other.
fn believed(db: &Engraph, at: &Value, pattern: &str) -> Vec<String> {
    let text = format!(
        "MATCH {pattern} FOR VALID_TIME ALL FOR SYSTEM_TIME AS OF $at \
         RETURN f.id AS id, f.relation AS r, h.key AS h, t.key AS t, f.valid_from AS s, \
         f.valid_to AS e, f.confidence AS c, f.uncertain AS u, f.sources AS x, f.system_from AS b \
         ORDER BY id"
    );
    let rows = db.query(&text, [("at", at.clone())]).expect("reads");
    rows.to_json_lines().collect()
}

fn now(db: &Engraph) -> Value {
    db.query("RETURN now() AS t", ()).expect("reads").get(0, "t").cloned().expect("a row")
}

/// Every fact that is believed now.
fn current(db: &Engraph) -> Vec<Fact> {
    let rows = db.query("MATCH ()-[f]->() FOR VALID_TIME ALL RETURN f", ()).expect("reads");
    let facts = rows.rows.into_iter().flatten().map(|value| match value {
        Value::Fact(fact) => *fact,
        other => panic!("{other:?} is no fact"),
    });
    facts.collect()
}

fn overlaps(a: &Interval, b: &Interval) -> bool {
    a.from < b.to && b.from < a.to
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_past_does_not_change(acts in prop::collection::vec(act(), 1..40)) {
        let folder = folder();
        let mut db = open(folder.path());
        db.query("DEFINE RELATION one CARDINALITY ONE", ()).expect("defines");
        db.query("DEFINE RELATION many CARDINALITY MANY", ()).expect("defines");
        let mut seen: Vec<(Value, Vec<String>)> = Vec::new();
        for act in &acts {
            perform(&db, act);
            if matches!(act, Act::Reopen) {
                drop(db);
                db = open(folder.path());
            }
            let at = now(&db);
            let out = believed(&db, &at, "(h:H)-[f]->(t)");
            prop_assert_eq!(&out, &believed(&db, &at, "(t:T)<-[f]-(h)"), "after {:?}", act);
            prop_assert_eq!(out.len(), current(&db).len());
            // The next write comes at a later instant than what was just seen.
            while now(&db) == at {}
            seen.push((at, out));
        }
        let mut violations = Vec::new();
        db.check(&mut |violation| violations.push(violation.to_string()), &mut |_| {})
            .expect("can be checked");
        prop_assert_eq!(violations, Vec::<String>::new());
        for (at, out) in &seen {
            prop_assert_eq!(out, &believed(&db, at, "(h:H)-[f]->(t)"), "as of {}", at);
            prop_assert_eq!(out, &believed(&db, at, "(t:T)<-[f]-(h)"), "as of {}", at);
        }
        let stable: Vec<Fact> =
            current(&db).into_iter().filter(|f| f.relation == "one" && !f.uncertain).collect();
        for (i, a) in stable.iter().enumerate() {
            for b in &stable[i + 1..] {
                let meet = a.head.key == b.head.key && overlaps(&a.valid, &b.valid);
                prop_assert!(!meet, "{} and {}", a, b);
            }
        }
    }
}
