//! English verbs: which word is a form of which verb, and how forms are made.
//!
//! A list of common verbs and the rules of spelling. A word that is in no list is no verb here,
//! but a form can be made of any word.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A word as a form of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    /// What the dictionary has: `go`.
    pub(super) base: &'static str,
    /// Which forms the word can be.
    pub(super) forms: Forms,
}

/// Which forms of a verb a word can be: `read` is three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms {
    pub(super) base: bool,
    /// `goes`.
    pub(super) third: bool,
    /// `went`.
    pub(super) past: bool,
    /// `gone`.
    pub(super) participle: bool,
    /// `going`.
    pub(super) gerund: bool,
}

/// The verb that a word, in lower case, is a form of.
pub(super) fn verb(word: &str) -> Option<Verb> {
    FORMS.get(word).copied()
}

/// The base of the verb that a word is a form of.
pub(super) fn lemma(word: &str) -> Option<&'static str> {
    verb(word).map(|verb| verb.base)
}

/// Whether a word can only be a past form, not what it is called in the dictionary.
pub(super) fn is_past(word: &str) -> bool {
    match verb(word) {
        Some(verb) => verb.forms.past && !verb.forms.base,
        None => is_regular_past(word) && !word.ends_with("eed"),
    }
}

/// Whether a word can be the participle after `has`.
pub(super) fn is_participle(word: &str) -> bool {
    match verb(word) {
        Some(verb) => verb.forms.participle,
        None => word == "been" || is_regular_past(word),
    }
}

/// Whether a word that is in no list ends as the past of a verb does, and is none of those that are no verbs.
fn is_regular_past(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !NO_PAST.contains(&word)
}

/// Words and names that end as the past of a verb does.
const NO_PAST: &[&str] = &[
    "ahmed",
    "alfred",
    "hamed",
    "infrared",
    "jared",
    "khaled",
    "kindred",
    "manfred",
    "mildred",
    "mohamed",
    "mohammed",
    "muhammed",
    "hatred",
    "hundred",
    "naked",
    "rashed",
    "rugged",
    "sacred",
    "siegfried",
    "wicked",
    "wilfred",
    "winifred",
    "wretched",
];

/// Whether a verb says too little for its `-ing` form to be a keyphrase: `going`, `making`.
pub(super) fn is_bland(base: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| BLAND.split_whitespace().collect());
    WORDS.contains(base)
}

/// The form after `she`: `goes`.
pub(super) fn third(base: &str) -> String {
    match base {
        "be" => return "is".to_owned(),
        "have" => return "has".to_owned(),
        _ => {}
    }
    if ends_in_consonant_y(base) {
        return format!("{}ies", &base[..base.len() - 1]);
    }
    let sibilant = ["s", "x", "z", "ch", "sh", "o"].iter().any(|ending| base.ends_with(ending));
    format!("{base}{}", if sibilant { "es" } else { "s" })
}

/// The past: `went`.
pub(super) fn past(base: &str) -> String {
    match irregular(base) {
        Some((past, _)) => past.to_owned(),
        None => regular_past(base),
    }
}

/// The form after `has`: `gone`.
pub(super) fn participle(base: &str) -> String {
    match irregular(base) {
        Some((_, participle)) => participle.to_owned(),
        None => regular_past(base),
    }
}

/// The form after `is`: `going`.
pub(super) fn gerund(base: &str) -> String {
    if matches!(base, "be" | "see" | "agree" | "flee" | "dye") {
        return format!("{base}ing");
    }
    if let Some(stem) = base.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    match base.strip_suffix('e') {
        Some(stem) => format!("{stem}ing"),
        None => format!("{}ing", doubled(base)),
    }
}

fn regular_past(base: &str) -> String {
    if base.ends_with('e') {
        return format!("{base}d");
    }
    if ends_in_consonant_y(base) {
        return format!("{}ied", &base[..base.len() - 1]);
    }
    format!("{}ed", doubled(base))
}

fn ends_in_consonant_y(base: &str) -> bool {
    base.strip_suffix('y').is_some_and(|stem| {
        stem.ends_with(|c: char| c.is_ascii_alphabetic() && !"aeiou".contains(c))
    })
}

/// `plan` is `plann` before an ending; so are short verbs of one vowel and the listed longer ones.
fn doubled(base: &str) -> String {
    let mut last = base.chars().rev();
    let (Some(c), Some(b), a) = (last.next(), last.next(), last.next()) else {
        return base.to_owned();
    };
    let vowels = base.chars().filter(|c| "aeiouy".contains(*c)).count();
    let is_closed = !"aeiouwxy".contains(c)
        && "aeiou".contains(b)
        && a.is_none_or(|a| !"aeiou".contains(a) || base == "quit");
    let is_short = vowels == 1 || matches!(base, "quit" | "begin" | "forget" | "prefer" | "admit");
    if is_closed && is_short { format!("{base}{c}") } else { base.to_owned() }
}

/// The past and the participle of a verb whose forms follow no rule: `go` gives `went` and `gone`.
pub(super) fn irregular(base: &str) -> Option<(&'static str, &'static str)> {
    IRREGULAR.lines().find_map(|line| {
        let mut parts = line.split_whitespace();
        (parts.next()? == base).then_some(())?;
        let past = parts.next()?;
        Some((past, parts.next().unwrap_or(past)))
    })
}

static FORMS: LazyLock<HashMap<String, Verb>> = LazyLock::new(|| {
    let mut forms = HashMap::new();
    let irregular = IRREGULAR.lines().filter_map(|line| line.split_whitespace().next());
    for base in irregular.chain(REGULAR.split_whitespace()) {
        let mut add = |word: String, form: fn(&mut Forms)| {
            let verb = forms.entry(word).or_insert(Verb { base, forms: Forms::default() });
            if verb.base == base {
                form(&mut verb.forms);
            }
        };
        add(past(base), |forms| forms.past = true);
        add(participle(base), |forms| forms.participle = true);
        add(base.to_owned(), |forms| forms.base = true);
        add(third(base), |forms| forms.third = true);
        add(gerund(base), |forms| forms.gerund = true);
    }
    for (word, base) in OTHER_FORMS {
        let past = matches!(*word, "was" | "were");
        let present = Forms { third: !past, past, ..Forms::default() };
        forms.insert((*word).to_owned(), Verb { base, forms: present });
    }
    forms
});

const OTHER_FORMS: &[(&str, &str)] =
    &[("am", "be"), ("is", "be"), ("are", "be"), ("was", "be"), ("were", "be")];

/// Verbs whose forms follow no rule: base, past, and the participle if it is another word.
const IRREGULAR: &str = "\
be was been
have had
do did done
go went gone
say said
make made
get got gotten
know knew known
think thought
take took taken
see saw seen
come came come
find found
give gave given
tell told
feel felt
leave left
keep kept
begin began begun
bring brought
buy bought
build built
catch caught
choose chose chosen
cut cut
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
fight fought
fly flew flown
forget forgot forgotten
grow grew grown
hang hung
hear heard
hit hit
hold held
hurt hurt
lead led
learn learned
lend lent
let let
lose lost
mean meant
meet met
pay paid
put put
quit quit
read read
ride rode ridden
ring rang rung
rise rose risen
run ran run
sell sold
send sent
set set
shoot shot
show showed shown
sing sang sung
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
swim swam swum
teach taught
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
become became become
break broke broken
blow blew blown
burn burnt
deal dealt
dig dug
dream dreamt
feed fed
forgive forgave forgiven
freeze froze frozen
hide hid hidden
knit knit
retake retook retaken
sink sank sunk
overcome overcame overcome
rebuild rebuilt
shake shook shaken
shine shone
split split
stick stuck
strike struck
swear swore sworn
sweep swept
tear tore torn
weep wept
bet bet
bind bound
bite bit bitten
cost cost
creep crept
shut shut
spread spread
slide slid
";

const REGULAR: &str = "\
accept achieve act adapt add admire admit adopt adore advise agree aim allow amaze announce answer \
apologize appear apply appreciate approach argue arrange arrive ask assist attend audition avoid \
bake battle beat believe belong blend bond book borrow bounce call calm camp cancel capture care carry \
celebrate challenge change chase chat check cheer chill choreograph clean climb close coach collect \
combine comfort commit compete complain complete compose concentrate confess connect consider \
contact continue contribute convince cook cope cover craft create cry dance date decide decorate \
dedicate defeat delay deliver depend deserve design destroy develop diagnose divorce die discover discuss dislike \
donate download drop earn embrace emphasize employ encourage end engage enjoy enroll enter escape evolve \
exchange exercise exist expand expect experience experiment explain explore express face fail \
figure fill film finish fish fit fix focus follow foster gain garden gather graduate greet guess \
guide handle happen hate heal help hike hire hope host hug hunt hurry imagine impress improve \
include increase inspire install intend interview introduce invest invite jog join joke journal \
juggle jump kick kiss knock land laugh launch lay like list listen live look love maintain \
major manage marry master match matter melt mention mentor mind miss mix motivate move need network nail \
notice nurture observe offer open order organize organise own pack paint participate partner party \
pass perform pet photograph pick plan plant play please point post practice practise pray prefer \
prepare present preserve prevent produce promise promote propose protect prove provide publish \
pull purchase push pursue race raise reach react realize recall receive recharge recite recommend \
reconnect record recover reduce refresh refuse regret rehearse reignite relate relax release \
relieve relocate rely remain remember remind renovate rent repair replace reply report represent \
rescue research resign respect respond rest retire return reveal review reward rock sail save savor scan \
schedule score scream search secure seem separate serve settle sew share shop sign skate sketch ski skip \
slip smell smile snap snowboard solve sound specialize spot start stay stitch stop streamline \
strengthen stretch struggle study submit succeed suffer suggest support suppose surf surprise \
surround survive switch symbolize tackle talk taste tend test thank tour trade train transform \
travel treat trust try turn unwind upgrade use value visit volunteer wait walk want warm wash waste \
watch water weigh welcome wish witness wonder work worry wrap yell crave crochet stream code \
program adjust nurse curl";

/// Verbs that say too little.
const BLAND: &str = "\
be have do go say make get know think take see come find give tell feel leave keep begin bring put \
set let become mean hear hold run show try use want need seem look start stop happen turn help talk \
wait work live stay move like love enjoy hope wish wonder believe guess include follow change add \
lead understand sound remember allow consider appear expect suggest pass reach remain end realize \
mention spend lose catch deal matter care miss hang check appreciate agree imagine \
cheer push build grow create join share continue motivate inspire remind encourage ask please \
thank sit stand break open pay meet send decide choose figure focus connect face handle \
amaze";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verb_stands_twice() {
        for list in [REGULAR, BLAND] {
            let words: Vec<&str> = list.split_whitespace().collect();
            let once: HashSet<&str> = words.iter().copied().collect();
            assert_eq!(words.len(), once.len(), "{words:?}");
        }
    }

    #[test]
    fn forms_are_made() {
        for (base, expected) in [
            ("go", ["goes", "went", "gone", "going"]),
            ("love", ["loves", "loved", "loved", "loving"]),
            ("study", ["studies", "studied", "studied", "studying"]),
            ("plan", ["plans", "planned", "planned", "planning"]),
            ("play", ["plays", "played", "played", "playing"]),
            ("visit", ["visits", "visited", "visited", "visiting"]),
            ("watch", ["watches", "watched", "watched", "watching"]),
            ("die", ["dies", "died", "died", "dying"]),
            ("quit", ["quits", "quit", "quit", "quitting"]),
            ("read", ["reads", "read", "read", "reading"]),
        ] {
            let made = [third(base), past(base), participle(base), gerund(base)];
            assert_eq!(made, expected, "{base}");
            for form in expected {
                assert_eq!(lemma(form), Some(base), "{form}");
            }
        }
    }

    #[test]
    fn forms_are_known() {
        assert!(is_past("went") && is_past("zipped") && !is_past("read") && !is_past("need"));
        assert!(is_participle("gone") && is_participle("been") && !is_participle("went"));
        assert_eq!(lemma("am"), Some("be"));
        assert_eq!(lemma("table"), None);
        assert!(is_bland("make") && !is_bland("hike"));
    }
}
