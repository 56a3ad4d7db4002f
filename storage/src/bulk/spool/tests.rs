//! Rows, written and read.

use proptest::prelude::*;

use super::*;

fn rows_of(drawn: &[(u64, i64, String)]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (number, time, source) in drawn {
        let fact = BulkFact {
            head: NodeId(*number),
            relation: RelationId(*number as u32),
            tail: NodeId(!number),
            valid: Interval { from: *time, to: !time },
            confidence: *number as f64 / 7.0,
            intent: Intent::ALL[(number % Intent::ALL.len() as u64) as usize],
            source,
        };
        rows.push(Row { place: number ^ 5, fact });
    }
    rows
}

fn written(rows: &[Row<'_>]) -> Spool {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(folder.path()).unwrap();
    rows.iter().try_for_each(|row| spool.write_row(row)).unwrap();
    spool
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_are_read_as_they_were_written(
        drawn in prop::collection::vec((any::<u64>(), any::<i64>(), ".{0,40}"), 0..8),
    ) {
        let expected = rows_of(&drawn);
        let bytes = written(&expected).bytes().unwrap();
        prop_assert_eq!(rows(&bytes).unwrap(), expected.clone());
        let mut records = written(&expected).records().unwrap();
        for _ in 0..2 {
            for row in &expected {
                prop_assert!(records.advance().unwrap());
                prop_assert_eq!(&records.row().unwrap(), row);
            }
            prop_assert!(!records.advance().unwrap());
            records.rewind().unwrap();
        }
    }
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error() {
    let drawn = [(3, 8, "notes:1".to_owned())];
    let whole = written(&rows_of(&drawn)).bytes().unwrap();
    for length in 1..whole.len() {
        assert!(rows(&whole[..length]).is_err(), "{length} bytes");
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        spool.write(&whole[..length]).unwrap();
        assert!(spool.records().unwrap().advance().is_err(), "{length} bytes");
    }
    let mut no_intent = whole;
    no_intent[HEADER - 5] = u8::MAX;
    assert!(rows(&no_intent).is_err());
}
