//! Rows, written and read.

use proptest::prelude::*;

use super::*;

fn rows_of(drawn: &[(u64, i64, String)]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (place, (number, time, source)) in (0..).zip(drawn) {
        let fact = BulkFact {
            head: NodeId(*number),
            relation: RelationId(*time as u32),
            tail: NodeId(!number),
            valid: Interval { from: *time, to: !time },
            confidence: *number as f64 / 7.0,
            intent: Intent::ALL[(number % Intent::ALL.len() as u64) as usize],
            source,
        };
        rows.push(Row { place, fact });
    }
    rows
}

/// Of which so many bytes may be in memory.
fn written(rows: &[Row<'_>], memory: usize) -> Spool {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(folder.path(), memory);
    rows.iter().try_for_each(|row| spool.write_row(row)).unwrap();
    spool
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_are_read_as_they_were_written(
        drawn in prop::collection::vec((0..9_u64, any::<i64>(), ".{0,40}"), 0..20),
        memory in prop::sample::select(vec![0, 300, MEMORY, usize::MAX]),
    ) {
        let expected = rows_of(&drawn);
        let mut records = written(&expected, memory).records().unwrap();
        let bytes: usize = expected.iter().map(|row| HEADER + row.fact.source.len()).sum();
        prop_assert_eq!(records.is_in_memory(), bytes <= memory);
        for _ in 0..2 {
            for row in &expected {
                prop_assert!(records.advance().unwrap());
                prop_assert_eq!(&records.row().unwrap(), row);
                prop_assert_eq!(records.head().unwrap(), row.fact.head);
            }
            prop_assert!(!records.advance().unwrap());
            records.rewind().unwrap();
        }
        let whole = written(&expected, memory).bytes().unwrap();
        prop_assert_eq!(whole.len(), bytes);
        let whole = [whole];
        let pieces = if records.is_in_memory() { records.pieces() } else { &whole };
        let is_wanted = |head: NodeId| !head.0.is_multiple_of(3);
        let mut wanted = expected.clone();
        wanted.retain(|row| is_wanted(row.fact.head));
        wanted.sort_by_key(|row| (row.fact.head, row.fact.relation));
        let sorted = Sorted::of(pieces, is_wanted, 0).unwrap();
        let stretches: Vec<_> = sorted.stretches().collect::<Result<_>>().unwrap();
        let heads = |rows: &[Row<'_>]| rows.first().zip(rows.last()).map(|(first, last)| [first, last].map(|row| row.fact.head));
        prop_assert!(stretches.windows(2).all(|pair| heads(&pair[0]).unwrap()[1] < heads(&pair[1]).unwrap()[0]));
        prop_assert!(stretches.iter().rev().skip(1).all(|rows| rows.len() >= STRETCH));
        prop_assert_eq!(stretches.concat(), wanted);
    }
}

#[test]
fn what_is_cut_off_or_damaged_is_an_error() {
    let drawn = [(3, 8, "notes:1".to_owned())];
    let whole = written(&rows_of(&drawn), MEMORY).bytes().unwrap();
    let read = |bytes: &[u8]| {
        let pieces = [bytes.to_vec()];
        let sorted = Sorted::of(&pieces, |_| true, 1)?;
        sorted.stretches().map(|rows| rows.map(|rows| rows.len())).sum::<Result<usize>>()
    };
    assert_eq!(read(&whole).unwrap(), 1);
    for length in 1..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length} bytes");
        let folder = tempfile::tempdir().unwrap();
        for memory in [0, MEMORY] {
            let mut spool = Spool::new(folder.path(), memory);
            spool.write(&whole[..length]).unwrap();
            assert!(spool.records().unwrap().advance().is_err(), "{length} bytes");
        }
    }
    let mut no_intent = whole;
    no_intent[HEADER - 5] = u8::MAX;
    assert!(read(&no_intent).is_err());
}

#[test]
fn pieces_of_memory_are_filled_one_after_another() {
    let drawn: Vec<_> = (0..30).map(|number| (number, 0, "notes".to_owned())).collect();
    let spool = written(&rows_of(&drawn), usize::MAX);
    assert!(spool.pieces.len() > 2 && spool.pieces.iter().all(|piece| piece.len() <= PIECE));
    let long = [(0, 0, "notes".repeat(PIECE))];
    let records = written(&rows_of(&long), usize::MAX).records().unwrap();
    assert_eq!(records.pieces().len(), 1);
}
