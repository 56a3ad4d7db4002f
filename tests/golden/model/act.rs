//! Random acts: what is done to the database, as MemQL text, and to the oracle.

use super::oracle::{ALWAYS, Belief, FOREVER, Policy, Properties, World};

/// `CONFIRM` and `DOUBT`, symmetric and inverse relations. Off until the language has them.
pub(crate) const COMING: bool = false;

/// A small generator of random numbers (splitmix64): one seed, one history.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// The relations that facts are told in; `free` is never defined.
pub(crate) const RELATIONS: [&str; 5] = ["one", "many", "gate", "last", "free"];
/// The relations that [`COMING`] adds.
pub(crate) const NEW_RELATIONS: [&str; 3] = ["wed", "lord", "vassal"];
/// The nodes that facts start at; some are tails as well.
pub(crate) const HEADS: [&str; 4] = ["n0", "n1", "n2", "n3"];
/// The nodes that facts lead to.
pub(crate) const TAILS: [&str; 5] = ["n2", "n3", "n4", "n5", "n6"];
/// The intents that some facts name.
pub(crate) const INTENTS: [&str; 3] = ["fact", "causal", "temporal"];
const SURE: [f64; 8] = [0.4, 0.5, 0.6, 0.79, 0.8, 0.81, 0.9, 1.0];

/// One day, in microseconds.
pub(crate) const DAY: i64 = 86_400_000_000;
/// 2020-01-01, day 0.
pub(crate) const START: i64 = 1_577_836_800_000_000;

/// A statement or several, with all that they say.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Define { relation: &'static str, option: Setting },
    Remember(Box<Remember>),
    Node { key: String, property: (&'static str, Option<i64>) },
    Retract { head: String, tail: String, relation: &'static str, past: bool },
    Confirm { head: String, relation: &'static str, at: i64, by: f64, doubt: bool },
    Transaction { acts: Vec<Act>, commits: bool },
    Reopen,
}

/// An option of a relation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    One(bool),
    Policy(Policy),
    Threshold(f64),
    Intent(&'static str),
    Symmetric,
    InverseOf(&'static str),
}

/// A fact that is told.
#[derive(Clone, Debug)]
pub(crate) struct Remember {
    pub(crate) head: String,
    pub(crate) relation: &'static str,
    pub(crate) tail: String,
    from: i64,
    to: i64,
    confidence: f64,
    intent: Option<&'static str>,
    sources: Vec<String>,
    property: Option<(&'static str, i64)>,
    of_head: Option<(&'static str, Option<i64>)>,
}

/// What every database of this test defines first.
pub(crate) fn definitions() -> Vec<Act> {
    let mut acts = vec![
        Act::Define { relation: "one", option: Setting::One(true) },
        Act::Define { relation: "many", option: Setting::One(false) },
        Act::Define { relation: "gate", option: Setting::One(true) },
        Act::Define { relation: "gate", option: Setting::Policy(Policy::Max) },
        Act::Define { relation: "gate", option: Setting::Threshold(0.6) },
        Act::Define { relation: "last", option: Setting::One(true) },
        Act::Define { relation: "last", option: Setting::Policy(Policy::Latest) },
        Act::Define { relation: "last", option: Setting::Intent("evolution") },
    ];
    if COMING {
        acts.extend([
            Act::Define { relation: "wed", option: Setting::One(true) },
            Act::Define { relation: "wed", option: Setting::Symmetric },
            Act::Define { relation: "vassal", option: Setting::One(true) },
            Act::Define { relation: "lord", option: Setting::InverseOf("vassal") },
        ]);
    }
    acts
}

/// A random act of a database that has only so many heads and relations, so that facts meet.
pub(crate) fn random(random: &mut Random, heads: usize, relations: &[&'static str]) -> Act {
    match random.below(100) {
        0..=75 => Act::Remember(Box::new(remember(random, heads, relations))),
        76..=79 => Act::Node {
            key: random.pick(&["n0", "n2", "n4", "n7"]).to_owned(),
            property: property(random),
        },
        80..=87 => Act::Retract {
            head: random.pick(&HEADS[..heads]).to_owned(),
            tail: random.pick(&TAILS).to_owned(),
            relation: random.pick(relations),
            past: random.once_in(4),
        },
        88..=89 if random.once_in(2) => redefine(random, relations),
        90..=95 if COMING => Act::Confirm {
            head: random.pick(&HEADS[..heads]).to_owned(),
            relation: random.pick(relations),
            at: instant(random),
            by: random.pick(&[0.1, 0.4, 0.5, 0.9]),
            doubt: random.once_in(3),
        },
        96..=98 => {
            let count = random.below(6);
            let acts = (0..count).map(|_| inner(random, heads, relations)).collect();
            Act::Transaction { acts, commits: !random.once_in(3) }
        }
        99 if random.once_in(4) => Act::Reopen,
        _ => Act::Remember(Box::new(remember(random, heads, relations))),
    }
}

/// An act that may stand within a transaction.
fn inner(random: &mut Random, heads: usize, relations: &[&'static str]) -> Act {
    loop {
        match self::random(random, heads, relations) {
            Act::Transaction { .. } | Act::Reopen => {}
            act => return act,
        }
    }
}

fn remember(random: &mut Random, heads: usize, relations: &[&'static str]) -> Remember {
    let (mut from, mut to) = (instant(random), instant(random));
    if from > to {
        (from, to) = (to, from);
    }
    if from == to {
        to = from + DAY;
    }
    match random.below(10) {
        0..=4 => to = FOREVER,
        5 => from = ALWAYS,
        _ => {}
    }
    let first = random.below(4);
    let sources = first..first + random.pick(&[0, 1, 1, 1, 2]);
    let sources = sources.map(|source| format!("s{source}")).collect();
    Remember {
        head: random.pick(&HEADS[..heads]).to_owned(),
        relation: random.pick(relations),
        tail: random.pick(&TAILS).to_owned(),
        from,
        to,
        confidence: random.pick(&SURE),
        intent: random.once_in(4).then(|| random.pick(&INTENTS)),
        sources,
        property: random.once_in(5).then(|| (random.pick(&["v", "w"]), random.below(3) as i64)),
        of_head: random.once_in(8).then(|| property(random)),
    }
}

fn property(random: &mut Random) -> (&'static str, Option<i64>) {
    let value = (!random.once_in(4)).then(|| random.below(3) as i64);
    (random.pick(&["v", "w"]), value)
}

/// An instant among few, so that intervals meet and start together. One is far in the future, one
/// before 1970, and some miss a midnight by a microsecond.
pub(crate) fn instant(random: &mut Random) -> i64 {
    match random.below(14) {
        12 => START + 100_000 * DAY,
        13 => -1000 * DAY,
        11 => START + 4 * DAY + random.below(2) as i64 * 2 - 1,
        day => START + day as i64 * DAY,
    }
}

/// Two things are left out, as docs/time.md and the database do not agree on them: a threshold
/// above 0.8, under which a fact can be stable and weak at once, and `MANY` for a relation that was
/// `ONE`, whose uncertain facts then meet nothing any more.
fn redefine(random: &mut Random, relations: &[&'static str]) -> Act {
    let option = match random.below(4) {
        0 => Setting::One(true),
        1 => Setting::Policy(random.pick(&[Policy::NoisyOr, Policy::Max, Policy::Latest])),
        2 => Setting::Threshold(random.pick(&[0.0, 0.5, 0.6, 0.8])),
        _ => Setting::Intent(random.pick(&INTENTS)),
    };
    Act::Define { relation: random.pick(relations), option }
}

impl Act {
    /// The statements.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Define { relation, option } => {
                format!("DEFINE RELATION {relation} {}", option.text())
            }
            Self::Remember(fact) => fact.text(),
            Self::Node { key, property } => format!("REMEMBER (:N '{key}' {})", map(*property)),
            Self::Retract { head, tail, relation, past } => {
                let scope = if *past { " FOR SYSTEM_TIME ALL" } else { "" };
                format!(
                    "MATCH (:N '{head}')-[f:{relation}]->(:N '{tail}') FOR VALID_TIME ALL{scope} \
                     RETRACT f"
                )
            }
            Self::Confirm { head, relation, at, by, doubt } => {
                let verb = if *doubt { "DOUBT" } else { "CONFIRM" };
                let at = time(*at);
                format!(
                    "MATCH (:N '{head}')-[f:{relation}]->() FOR VALID_TIME AS OF {at} {verb} f \
                     BY {by}"
                )
            }
            Self::Transaction { acts, commits } => {
                let acts: String = acts.iter().map(|act| format!("  {};\n", act.text())).collect();
                format!("BEGIN;\n{acts}{}", if *commits { "COMMIT" } else { "ROLLBACK" })
            }
            Self::Reopen => "-- the database is closed and opened again".to_owned(),
        }
    }

    /// Does it to the oracle. Gives the rows of the answer, a line each.
    pub(crate) fn perform(&self, world: &mut World) -> Vec<String> {
        match self {
            Self::Define { relation, option } => {
                world.define(relation, |rule| option.apply(rule));
                vec![format!("{relation} | defined")]
            }
            Self::Remember(fact) => fact.perform(world),
            Self::Node { key, property } => {
                world.put_node(key, &[*property]);
                vec![format!("{key} | remembered")]
            }
            Self::Retract { head, tail, relation, past } => {
                world.retract(head, relation, tail, *past)
            }
            Self::Confirm { head, relation, at, by, doubt } => {
                world.move_confidence(head, relation, *at, *by, *doubt)
            }
            Self::Transaction { .. } | Self::Reopen => Vec::new(),
        }
    }
}

impl Setting {
    fn text(self) -> String {
        match self {
            Self::One(one) => format!("CARDINALITY {}", if one { "ONE" } else { "MANY" }),
            Self::Policy(Policy::NoisyOr) => "CONFIDENCE noisy_or".to_owned(),
            Self::Policy(Policy::Max) => "CONFIDENCE max".to_owned(),
            Self::Policy(Policy::Latest) => "CONFIDENCE latest".to_owned(),
            Self::Threshold(threshold) => format!("THRESHOLD {threshold:?}"),
            Self::Intent(intent) => format!("INTENT {intent}"),
            Self::Symmetric => "SYMMETRIC".to_owned(),
            Self::InverseOf(other) => format!("INVERSE OF {other}"),
        }
    }

    fn apply(self, rule: &mut super::oracle::Rule) {
        match self {
            Self::One(one) => rule.one = one,
            Self::Policy(policy) => rule.policy = policy,
            Self::Threshold(threshold) => rule.threshold = threshold,
            Self::Intent(intent) => rule.intent = intent,
            Self::Symmetric => rule.symmetric = true,
            Self::InverseOf(other) => rule.inverse = Some(other),
        }
    }
}

impl Remember {
    fn text(&self) -> String {
        let of_head = self.of_head.map(|property| format!(" {}", map(property)));
        let of_fact = self.property.map(|(name, value)| format!(" {{{name}: {value}}}"));
        let mut text = format!(
            "REMEMBER (:N '{}'{})-[{}{}]->(:N '{}') VALID FROM {}",
            self.head,
            of_head.unwrap_or_default(),
            self.relation,
            of_fact.unwrap_or_default(),
            self.tail,
            time(self.from)
        );
        if self.to != FOREVER {
            text += &format!(" TO {}", time(self.to));
        }
        text += &format!(" CONFIDENCE {:?}", self.confidence);
        if let Some(intent) = self.intent {
            text += &format!(" INTENT {intent}");
        }
        let sources: Vec<String> =
            self.sources.iter().map(|source| format!("'{source}'")).collect();
        if !sources.is_empty() {
            text += &format!(" SOURCE {}", sources.join(", "));
        }
        text
    }

    fn perform(&self, world: &mut World) -> Vec<String> {
        let of_head: Vec<_> = self.of_head.into_iter().collect();
        world.put_node(&self.head, &of_head);
        world.put_node(&self.tail, &[]);
        let mut properties = Properties::new();
        properties.extend(self.property.map(|(name, value)| (name.to_owned(), value)));
        let belief = Belief {
            head: self.head.clone(),
            relation: self.relation,
            tail: self.tail.clone(),
            from: self.from,
            to: self.to,
            confidence: self.confidence,
            intent: self.intent.unwrap_or(world.rule(self.relation).intent),
            uncertain: false,
            sources: self.sources.clone(),
            properties,
        };
        let (fact, outcome) = world.assert(belief);
        vec![format!("{fact} | {outcome}")]
    }
}

fn map((name, value): (&str, Option<i64>)) -> String {
    format!("{{{name}: {}}}", value.map_or("null".to_owned(), |value| value.to_string()))
}

/// An instant as MemQL writes it; an open beginning as null.
pub(crate) fn time(instant: i64) -> String {
    if instant == ALWAYS {
        return "null".to_owned();
    }
    let (days, rest) = (instant.div_euclid(DAY), instant.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    if rest == 0 {
        return format!("DATE '{year:04}-{month:02}-{day:02}'");
    }
    let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "TIMESTAMP '{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z'"
    )
}

/// The date of a number of days since 1970-01-01, by counting.
fn civil(mut days: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days < 0 {
        year -= 1;
        days += 365 + i64::from(leap(year));
    }
    while days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    let february = 28 + i64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}
