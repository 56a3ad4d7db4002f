//! Where conversations are cut, in the plane and by rules.

use proptest::prelude::*;

use super::*;

const MINUTE: Time = 60 * 1_000_000;

const NOTHING: Heard<'_> = Heard { at: None, vector: &[], tokens: 0, speaker: "", text: "" };

/// A turn: minutes, an angle in degrees, tokens.
type Said = (Option<Time>, f32, usize);

fn vectors(said: &[Said]) -> Vec<[f32; 2]> {
    said.iter().map(|turn| turn.1.to_radians()).map(|a| [a.cos(), a.sin()]).collect()
}

fn heard<'a>(said: &[Said], vectors: &'a [[f32; 2]]) -> Vec<Heard<'a>> {
    let turns = said.iter().zip(vectors);
    turns
        .map(|((minutes, _, tokens), vector)| Heard {
            at: minutes.map(|minutes| minutes * MINUTE),
            vector,
            tokens: *tokens,
            ..NOTHING
        })
        .collect()
}

fn cut(said: &[Said]) -> Vec<usize> {
    SimilarityBoundaries::default().boundaries(&heard(said, &vectors(said)))
}

/// Turns a minute apart of 10 tokens each, by their angles.
fn talk(degrees: impl IntoIterator<Item = f32>) -> Vec<Said> {
    degrees.into_iter().enumerate().map(|(i, angle)| (Some(i as Time), angle, 10)).collect()
}

#[test]
fn a_turn_to_something_else_is_a_boundary() {
    let topics = [10.0, 100.0, 10.0];
    let said = talk((0..18).map(|i| topics[i / 6] + [0.0, 4.0, 2.0][i % 3]));
    assert_eq!(cut(&said), [6, 12]);
    assert_eq!(cut(&talk([7.0; 18])), [0; 0], "nothing changes");
    assert_eq!(cut(&[]), [0; 0]);
    assert_eq!(cut(&talk([1.0])), [0; 0]);
    assert_eq!(cut(&talk([1.0, 90.0, 180.0])), [0; 0], "one turn is no episode");
}

#[test]
fn a_pause_is_a_boundary_whatever_is_said() {
    let at = |minutes: [Option<Time>; 5]| cut(&minutes.map(|at| (at, 5.0, 10)));
    assert_eq!(at([Some(0), Some(30), Some(61), Some(62), Some(63)]), [2]);
    assert_eq!(at([Some(0), None, Some(31), None, Some(62)]), [2, 4]);
    assert_eq!(at([Some(60), Some(0), None, None, None]), [1]);
    let ends = [Some(Time::MIN), Some(Time::MAX), Some(0)];
    let turns = ends.map(|at| Heard { at, tokens: usize::MAX, ..NOTHING });
    assert_eq!(SimilarityBoundaries::default().boundaries(&turns), [1, 2]);
}

#[test]
fn nothing_is_compared_across_a_pause() {
    let said: Vec<Said> = (0..8).map(|i| (Some(i / 4 * 60), (i / 4 * 90) as f32, 10)).collect();
    assert_eq!(cut(&said), [4]);
}

#[test]
fn what_is_too_long_is_cut_at_its_deepest_gap() {
    assert_eq!(cut(&talk([3.0; 26])), [13], "no gap is deeper, so in the middle");
    assert_eq!(cut(&talk([3.0; 25])), [0; 0]);
    let long = |tokens: usize| [(None, 3.0, tokens); 6];
    assert_eq!(cut(&long(341)), [0; 0]);
    assert_eq!(cut(&long(342)), [3]);
    assert_eq!(cut(&long(5000)), [1, 3, 4], "two turns may be of any length");
    assert_eq!(cut(&[(None, 3.0, 5000); 3]), [1]);
    // A slow drift that is no valley by itself, with its steepest place at 20.
    let drift = |i: usize| if i < 20 { i as f32 } else { 40.0 + i as f32 };
    let strict = SimilarityBoundaries { factor: 100.0, ..Default::default() };
    let said = talk((0..28).map(drift));
    assert_eq!(strict.boundaries(&heard(&said, &vectors(&said))), [20]);
}

#[test]
fn a_test_only_at_an_end_a_pause_or_many_tokens() {
    let buffer = Buffered { tokens: 2048, last: Some(0), now: Some(PAUSE), has_ended: false };
    assert_eq!(buffer.occasion(), None);
    assert!(!is_due(&buffer));
    assert!(!is_due(&Buffered::default()));
    let occasion = |buffer: Buffered| {
        assert!(is_due(&buffer));
        buffer.occasion()
    };
    assert_eq!(occasion(Buffered { tokens: 2049, ..buffer }), Some(Occasion::Tokens));
    assert_eq!(occasion(Buffered { now: Some(PAUSE + 1), ..buffer }), Some(Occasion::Pause));
    assert_eq!(occasion(Buffered { has_ended: true, ..buffer }), Some(Occasion::SessionEnd));
}

/// A detector of fixed answers.
struct Fixed(&'static [usize]);

impl BoundaryDetector for Fixed {
    fn id(&self) -> &str {
        "fixed"
    }

    fn boundaries(&self, _: &[Heard<'_>]) -> Vec<usize> {
        self.0.to_vec()
    }
}

fn closed(cuts: &'static [usize], tokens: &[usize], occasion: Occasion) -> Vec<(usize, usize)> {
    let turns: Vec<Heard<'_>> =
        tokens.iter().map(|tokens| Heard { tokens: *tokens, ..NOTHING }).collect();
    let episodes = closed_episodes(&Fixed(cuts), &turns, occasion);
    episodes.into_iter().map(|episode| (episode.start, episode.end)).collect()
}

#[test]
fn the_last_episode_waits_while_the_conversation_goes_on() {
    assert_eq!(closed(&[3], &[500; 5], Occasion::SessionEnd), [(0, 3), (3, 5)]);
    assert_eq!(closed(&[3], &[500; 5], Occasion::Pause), [(0, 3), (3, 5)]);
    assert_eq!(closed(&[3], &[500; 5], Occasion::Tokens), [(0, 3)]);
    assert_eq!(closed(&[3], &[1024; 5], Occasion::Tokens), [(0, 3), (3, 5)], "it is full");
    assert_eq!(closed(&[3], &[9; 28], Occasion::Tokens), [(0, 3), (3, 28)], "it is full");
    assert!(closed(&[], &[3000], Occasion::Tokens).is_empty(), "one turn is no episode yet");
    assert!(closed(&[], &[], Occasion::SessionEnd).is_empty());
}

#[test]
fn answers_of_a_detector_are_not_believed() {
    assert_eq!(closed(&[9, 3, 0, 3, 4], &[1; 4], Occasion::SessionEnd), [(0, 3), (3, 4)]);
    assert_eq!(closed(&[], &[800; 3], Occasion::Tokens), [(0, 3)], "it never gets stuck");
}

#[test]
fn noise_misses_shifts_and_makes_up() {
    let said = talk((0..100).map(|i| (i / 5 * 83 % 360) as f32));
    let vectors = vectors(&said);
    let turns = heard(&said, &vectors);
    let default = SimilarityBoundaries::default;
    let truth = default().boundaries(&turns);
    assert!(truth.len() > 10, "{truth:?}");
    let with = |miss, shift, extra, seed| {
        Noisy::new(default(), Noise { miss, shift, extra }, seed).boundaries(&turns)
    };
    assert_eq!(with(0.0, 0.0, 0.0, 1), truth);
    assert_eq!(with(f64::NAN, f64::NAN, f64::NAN, 1), truth);
    assert_eq!(with(1.0, 1.0, 0.0, 1), [0; 0]);
    let shifted = with(0.0, 1.0, 0.0, 1);
    let off = |place: &usize| truth.iter().map(|t| t.abs_diff(*place)).min().unwrap_or(99);
    assert!(shifted.iter().all(|place| off(place) <= 2), "{truth:?} {shifted:?}");
    assert_ne!(shifted, truth);
    let extra = with(0.0, 0.0, 1.0, 1);
    assert!(truth.iter().all(|place| extra.contains(place)) && extra.len() > truth.len());
    assert_eq!(with(0.4, 0.4, 0.4, 7), with(0.4, 0.4, 0.4, 7));
    assert_ne!(with(0.4, 0.4, 0.4, 7), with(0.4, 0.4, 0.4, 8));
    assert_eq!(
        Noisy::new(default(), Noise::level(0.4), 7).id(),
        "similarity:1 miss 0.4 shift 0.4 extra 0.4 seed 7"
    );
}

fn turns() -> impl Strategy<Value = Vec<Said>> {
    let gap = prop_oneof![4 => Just(Some(1)), 1 => Just(Some(31)), 1 => Just(None)];
    let angle = prop_oneof![3 => (0_u8..4).prop_map(|a| f32::from(a) * 40.0), 1 => Just(f32::NAN)];
    let tokens = prop_oneof![6 => 0_usize..60, 2 => 500_usize..900, 1 => Just(usize::MAX)];
    proptest::collection::vec((gap, angle, tokens), 0..90).prop_map(|rows| {
        let mut now = 0;
        let mut at = |gap: Option<Time>| {
            now += gap.unwrap_or_default();
            gap.map(|_| now)
        };
        rows.into_iter().map(|(gap, angle, tokens)| (at(gap), angle, tokens)).collect()
    })
}

proptest! {
    #[test]
    fn episodes_hold_to_their_limits(said in turns(), factor in -2_i8..3) {
        let vectors = vectors(&said);
        let turns = heard(&said, &vectors);
        let detector =
            SimilarityBoundaries { factor: f64::from(factor), ..SimilarityBoundaries::default() };
        let cuts = detector.boundaries(&turns);
        prop_assert!(cuts.is_sorted_by(|a, b| a < b));
        prop_assert!(cuts.iter().all(|cut| (1..turns.len()).contains(cut)));
        let pauses = pauses(&turns);
        prop_assert!(pauses.iter().all(|pause| cuts.contains(pause)));
        let episodes = closed_episodes(&detector, &turns, Occasion::SessionEnd);
        prop_assert_eq!(episodes.iter().map(ExactSizeIterator::len).sum::<usize>(), turns.len());
        for episode in episodes {
            let is_short = tokens(&turns[episode.clone()]) <= TOKENS_MAX;
            prop_assert!(episode.len() <= TURNS_MAX);
            prop_assert!(is_short || episode.len() <= TURNS_MIN);
            let is_parted = |place: usize| {
                place == 0 || place == turns.len() || pauses.contains(&place)
            };
            let is_alone = is_parted(episode.start) && is_parted(episode.end);
            let beside = episode.start.saturating_sub(2)..(episode.end + 2).min(turns.len());
            let is_beside_long = tokens(&turns[beside]) > TOKENS_MAX;
            prop_assert!(episode.len() >= TURNS_MIN || is_alone || is_beside_long);
        }
    }

    #[test]
    fn noise_gives_places_in_order(said in turns(), level in 0_u8..11, seed: u64) {
        let vectors = vectors(&said);
        let turns = heard(&said, &vectors);
        let noise = Noise::level(f64::from(level) / 10.0);
        let cuts = Noisy::new(SimilarityBoundaries::default(), noise, seed).boundaries(&turns);
        prop_assert!(cuts.is_sorted_by(|a, b| a < b));
        prop_assert!(cuts.iter().all(|cut| (1..turns.len()).contains(cut)));
    }
}
