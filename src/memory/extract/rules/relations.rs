//! The relations that the pattern extractor knows, as data.
//!
//! A row says: after a person, this verb and this link word make this relation, and what follows
//! is its tail. Rows are tried in order.

use engraph_storage::graph::Intent;

use super::{lexicon, verbs};

/// A verb and a link word that make a relation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The verb, as the dictionary has it.
    pub(super) verb: &'static str,
    /// The word between the verb and the tail; empty if there is none.
    pub(super) link: &'static str,
    pub(super) relation: &'static str,
    /// The label of the tail, unless its words say another.
    pub(super) label: &'static str,
    pub(super) kind: Kind,
}

/// What a tail must be, and what the relation says of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any phrase of nouns.
    Any,
    /// A name.
    Named,
    /// Any phrase; something changed.
    Change,
    /// Something that happens at a time.
    Event,
    /// A name, or a phrase after an indefinite article.
    Indefinite,
    /// A business of somebody's own: "a bakery".
    Enterprise,
}

impl Row {
    /// The relation of something that is going on, or is over. "is building a shop" works on it;
    /// "is going to Rome" has not gone there, and says nothing that holds.
    pub(super) fn relation(&self, is_ongoing: bool) -> Option<&'static str> {
        match self.relation {
            _ if !is_ongoing => Some(self.relation),
            "went_to" | "went_on" | "visited" | "attended" | "moved_to" | "moved_from" | "got"
            | "received" | "won" | "sold" | "bought" | "lost" | "met" | "joined" | "adopted"
            | "married_to" => None,
            "made" | "baked" | "cooked" | "painted" | "drew" | "wrote" | "built" | "designed"
            | "created" | "composed" | "organised" | "hosted" | "finished" => Some("works_on"),
            relation => Some(relation),
        }
    }

    /// Whether it says so in that tense: who comes from Linz is of there, who came from there was on the
    /// way; who started at a place works there, who starts is yet to.
    pub(super) fn fits(&self, is_present: bool, is_to_come: bool) -> bool {
        match (self.verb, self.relation) {
            ("come", _) => is_present,
            ("start" | "begin" | "get", "works_at") => !is_present || is_to_come,
            ("use" | "support" | "run" | "train", _) => is_present,
            ("go" | "travel" | "drive" | "fly" | "visit", "went_to" | "visited") => !is_present,
            _ => true,
        }
    }

    /// Whether it says that somebody likes something.
    pub(super) fn is_liking(&self) -> bool {
        matches!(self.relation, "likes" | "loves" | "prefers")
    }

    /// The kind of fact, where the relation itself says that something changed.
    pub(super) fn intent(&self) -> Option<Intent> {
        (self.kind == Kind::Change).then_some(Intent::Evolution)
    }
}

const fn row(
    verb: &'static str,
    link: &'static str,
    relation: &'static str,
    label: &'static str,
    kind: Kind,
) -> Row {
    Row { verb, link, relation, label, kind }
}

use Kind::{Any, Change, Enterprise, Event, Indefinite, Named};

/// Relations by verb.
pub(super) const ROWS: &[Row] = &[
    row("live", "in", "lives_in", "Place", Any),
    row("live", "near", "lives_near", "Place", Any),
    row("grow", "up in", "grew_up_in", "Place", Any),
    row("move", "from", "moved_from", "Place", Change),
    row("move", "here from", "moved_from", "Place", Change),
    row("move", "to", "moved_to", "Place", Change),
    row("move", "back to", "moved_to", "Place", Change),
    row("move", "into", "moved_to", "Place", Change),
    row("relocate", "to", "moved_to", "Place", Change),
    row("come", "from", "comes_from", "Place", Named),
    row("work", "at", "works_at", "Organisation", Any),
    row("start", "at", "works_at", "Organisation", Named),
    row("get", "a job at", "works_at", "Organisation", Named),
    row("get", "a new job at", "works_at", "Organisation", Named),
    row("start", "a new job at", "works_at", "Organisation", Named),
    row("start", "a job at", "works_at", "Organisation", Named),
    row("start", "working at", "works_at", "Organisation", Named),
    row("start", "working for", "works_at", "Organisation", Named),
    row("begin", "working at", "works_at", "Organisation", Named),
    row("begin", "working for", "works_at", "Organisation", Named),
    row("work", "for", "works_at", "Organisation", Named),
    row("work", "as", "works_as", "Occupation", Any),
    row("work", "on", "works_on", "Thing", Any),
    row("volunteer", "at", "volunteers_at", "Organisation", Any),
    row("volunteer", "with", "volunteers_at", "Organisation", Any),
    row("study", "at", "studies_at", "Organisation", Any),
    row("study", "", "studies", "Activity", Any),
    row("major", "in", "studies", "Activity", Any),
    row("graduate", "from", "graduated_from", "Organisation", Any),
    row("research", "", "researches", "Thing", Any),
    row("teach", "", "teaches", "Activity", Any),
    row("learn", "", "learns", "Activity", Any),
    row("practice", "", "practises", "Activity", Any),
    row("practise", "", "practises", "Activity", Any),
    row("play", "", "plays", "Activity", Any),
    row("love", "", "loves", "Thing", Any),
    row("adore", "", "loves", "Thing", Any),
    row("like", "", "likes", "Thing", Any),
    row("enjoy", "", "likes", "Thing", Any),
    row("prefer", "", "prefers", "Thing", Any),
    row("hate", "", "dislikes", "Thing", Any),
    row("dislike", "", "dislikes", "Thing", Any),
    row("miss", "", "misses", "Thing", Any),
    row("collect", "", "collects", "Thing", Any),
    row("visit", "", "visited", "Place", Any),
    row("explore", "", "visited", "Place", Named),
    row("go", "to", "went_to", "Place", Any),
    row("go", "back to", "went_to", "Place", Any),
    row("travel", "to", "went_to", "Place", Any),
    row("drive", "to", "went_to", "Place", Any),
    row("fly", "to", "went_to", "Place", Any),
    row("use", "", "uses", "Thing", Named),
    row("support", "", "supports", "Thing", Named),
    row("run", "", "runs", "Organisation", Enterprise),
    row("train", "for", "trains_for", "Event", Event),
    row("go", "on", "went_on", "Event", Event),
    row("take", "", "took", "Event", Event),
    row("attend", "", "attended", "Event", Any),
    row("participate", "in", "participated_in", "Event", Any),
    row("compete", "in", "participated_in", "Event", Any),
    row("take", "part in", "participated_in", "Event", Any),
    row("sign", "up for", "signed_up_for", "Event", Any),
    row("enroll", "in", "signed_up_for", "Event", Any),
    row("apply", "to", "applied_to", "Organisation", Any),
    row("apply", "for", "applied_for", "Thing", Any),
    row("join", "", "joined", "Organisation", Any),
    row("host", "", "hosted", "Event", Any),
    row("organize", "", "organised", "Event", Any),
    row("organise", "", "organised", "Event", Any),
    row("get", "", "got", "Thing", Indefinite),
    row("finish", "", "finished", "Thing", Any),
    row("receive", "", "received", "Thing", Any),
    row("win", "", "won", "Thing", Any),
    row("earn", "", "earned", "Thing", Any),
    row("lose", "", "lost", "Thing", Change),
    row("buy", "", "bought", "Thing", Any),
    row("purchase", "", "bought", "Thing", Any),
    row("sell", "", "sold", "Thing", Any),
    row("own", "", "owns", "Thing", Any),
    row("adopt", "", "adopted", "Thing", Any),
    row("donate", "", "donated", "Thing", Any),
    row("make", "", "made", "Thing", Any),
    row("bake", "", "baked", "Thing", Any),
    row("cook", "", "cooked", "Thing", Any),
    row("paint", "", "painted", "Thing", Any),
    row("draw", "", "drew", "Thing", Any),
    row("write", "", "wrote", "Thing", Any),
    row("build", "", "built", "Thing", Any),
    row("design", "", "designed", "Thing", Any),
    row("create", "", "created", "Thing", Any),
    row("compose", "", "composed", "Thing", Any),
    row("read", "", "read", "Work", Any),
    row("watch", "", "watched", "Work", Any),
    row("listen", "to", "listens_to", "Thing", Any),
    row("start", "", "started", "Activity", Change),
    row("begin", "", "started", "Activity", Change),
    row("quit", "", "stopped", "Activity", Change),
    row("stop", "", "stopped", "Activity", Change),
    row("open", "", "opened", "Organisation", Change),
    row("launch", "", "launched", "Thing", Change),
    row("meet", "", "met", "Person", Named),
    row("marry", "", "married_to", "Person", Named),
    row("date", "", "partner_of", "Person", Named),
    row("believe", "in", "believes_in", "Thing", Any),
    row("try", "", "tried", "Thing", Any),
    row("recommend", "", "recommends", "Thing", Any),
    row("climb", "", "climbed", "Place", Any),
    row("hike", "", "hiked", "Place", Named),
];

/// Relations by what stands after `is`.
pub(super) const STATES: &[Row] = &[
    row("allergic", "to", "allergic_to", "Thing", Any),
    row("fan", "of", "likes", "Thing", Any),
    row("fond", "of", "likes", "Thing", Any),
    row("afraid", "of", "fears", "Thing", Any),
    row("scared", "of", "fears", "Thing", Any),
    row("married", "to", "married_to", "Person", Named),
    row("engaged", "to", "engaged_to", "Person", Named),
    row("interested", "in", "interested_in", "Thing", Any),
    row("passionate", "about", "interested_in", "Thing", Any),
    row("obsessed", "with", "interested_in", "Thing", Any),
    row("in", "", "was_in", "Place", Named),
    row("from", "", "comes_from", "Place", Named),
    row("born", "in", "born_in", "Place", Named),
    row("based", "in", "lives_in", "Place", Named),
    row("raised", "in", "grew_up_in", "Place", Named),
    row("employed", "at", "works_at", "Organisation", Named),
    row("employed", "by", "works_at", "Organisation", Named),
];

/// Relations to something that is to be done, by the verb before `to`.
pub(super) const AIMS: &[(&str, &str)] = &[
    ("plan", "plans_to"),
    ("intend", "plans_to"),
    ("decide", "plans_to"),
    ("want", "wants_to"),
    ("hope", "wants_to"),
    ("aim", "wants_to"),
    ("wish", "wants_to"),
];

/// The words by which turns say a relation, beside those of its own name.
pub(super) fn cues(relation: &str) -> impl Iterator<Item = &'static str> {
    let of_rows = ROWS.iter().chain(STATES).filter(move |row| row.relation == relation);
    let aims = AIMS.iter().filter(move |aim| aim.1 == relation).map(|aim| aim.0);
    let own = OWN.iter().filter(move |own| own.0 == relation).flat_map(|own| own.1);
    let verbs = of_rows.map(|row| row.verb).chain(aims);
    let forms = |verb: &'static str| {
        let irregular = verbs::irregular(verb).map(|(past, participle)| [past, participle]);
        std::iter::once(verb).chain(irregular.into_iter().flatten())
    };
    verbs.flat_map(forms).chain(own.copied()).chain(lexicon::kin_words(relation))
}

/// The verb of what somebody is.
const BE: &[&str] = &[
    "i'm", "im", "ive", "am", "as", "is", "was", "i've", "been", "being", "be", "we're", "became",
    "are",
];

/// Words of relations that are made by patterns of their own.
const OWN: &[(&str, &[&str])] = &[
    ("has_child", &["children"]),
    ("married_to", &["divorce"]),
    ("partner_of", &["broke up", "broken up", "split up"]),
    ("works_for", &["manager", "supervisor"]),
    ("lives_in", &["move", "relocate", "leave", "left"]),
    ("owns", &["sell", "sold"]),
    ("studies_at", &["student"]),
    (
        "works_at",
        &[
            "job", "start", "i'm", "am", "is", "resign", "retire", "leave", "left", "quit",
            "fired", "laid off", "join", "hired", "employed",
        ],
    ),
    (
        "has_pet",
        &[
            "have", "has", "dog", "cat", "puppy", "pup", "kitten", "turtle", "rabbit", "pet",
            "horse",
        ],
    ),
    ("likes", &["favorite", "favourite"]),
    ("dislikes", &["fan", "like", "enjoy", "love", "stand"]),
    ("plans_to", &["going", "gonna", "will", "i'll", "we'll", "may", "might"]),
    ("plans_to", BE),
    ("wants_to", &["love", "like"]),
    ("feels", BE),
    ("feels", &["been", "felt", "feeling"]),
    ("works_as", BE),
    ("works_as", &["promoted", "got", "join"]),
    ("diet", BE),
    ("diet", &["went", "go", "turned"]),
    ("religion", BE),
    ("nationality", BE),
    ("has_condition", BE),
    ("has_condition", &["have", "has", "had", "suffer", "diagnosed", "got"]),
    ("has_trait", BE),
    ("marital_status", BE),
    ("marital_status", &["got", "get"]),
    ("height", BE),
    ("weight", &["weigh"]),
    ("name", &["call", "called", "nickname", "go by", "goes by", "i'm", "am"]),
    ("comes_from", &["hometown", "home town"]),
    ("email", &["e-mail"]),
    ("phone", &["mobile", "cell"]),
    ("timezone", &["time zone"]),
    ("birth_year", &["born"]),
    ("birthday", &["born"]),
    (
        "uses",
        &[
            "use",
            "using",
            "switch",
            "migrate",
            "editor",
            "ide",
            "os",
            "operating",
            "browser",
            "distro",
            "stack",
            "language",
        ],
    ),
    ("drives", &["drive", "driving"]),
    ("intolerant_to", &["intolerant"]),
    ("takes", &["take", "taking", "on"]),
    ("avoids", &["avoid", "eat", "drink", "eating", "drinking", "consume"]),
    ("works_in", &["work"]),
    ("speaks", &["fluent", "language", "tongue"]),
    ("allergic_to", &["allergy", "allergies"]),
    ("age", &["im", "is", "years", "old", "turned", "i'm", "am", "was"]),
    ("birthday", &["birthday"]),
    ("went", &["went", "go", "going"]),
    ("considers", &["thinking", "think", "thought"]),
    ("was_in", &["in"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_of_the_table_are_known() {
        for row in ROWS {
            assert_eq!(verbs::lemma(row.verb), Some(row.verb));
        }
        for (verb, _) in AIMS {
            assert_eq!(verbs::lemma(verb), Some(*verb));
        }
    }

    #[test]
    fn what_is_told_is_documented() {
        let docs = include_str!("../../../../docs/memory.md");
        let rows = ROWS.iter().chain(STATES).map(|row| row.relation);
        let others = AIMS.iter().map(|aim| aim.1).chain(OWN.iter().map(|own| own.0));
        let others = others.chain(lexicon::kin_relations());
        for relation in rows.chain(others) {
            assert!(docs.contains(&format!("`{relation}`")), "{relation}");
        }
    }

    #[test]
    fn relations_have_cues() {
        assert!(cues("moved_to").any(|cue| cue == "relocate"));
        assert!(cues("has_child").any(|cue| cue == "son"));
        assert!(cues("neighbour_of").any(|cue| cue == "neighbor"));
        assert!(
            cues("went_to").any(|cue| cue == "flew") && cues("teaches").any(|cue| cue == "taught")
        );
        assert_eq!(cues("unknown").count(), 0);
    }
}
