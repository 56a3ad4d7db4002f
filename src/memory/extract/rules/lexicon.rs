//! Small lists of English words by what they do in a sentence.
//!
//! Closed lists, not a dictionary: a word that stands in none of them counts as a noun. Nothing
//! here looks at a word's neighbours.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::retrieval::words::is_stop_word;

type Words = LazyLock<HashSet<&'static str>>;

fn list(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}

/// Whether a word tells how, when or how much, and nothing by itself.
pub(super) fn is_adverb(word: &str) -> bool {
    ADVERBS.contains(word) || (word.len() > 4 && word.ends_with("ly") && !LY_NOUNS.contains(word))
}

/// Whether a word fills a turn and says nothing: `wow`, `thanks`, `awesome`.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(word) || PRAISE.contains(word) || is_drawn_out(word)
}

/// Whether a word says that something is good, and no more.
pub(super) fn is_praise(word: &str) -> bool {
    PRAISE.contains(word)
}

/// Whether a turn may begin with the word without that it belongs to the sentence: `yeah`.
pub(super) fn is_interjection(word: &str) -> bool {
    INTERJECTIONS.contains(word) || is_drawn_out(word)
}

/// `sooo`, `hmmm`, `yesss`.
fn is_drawn_out(word: &str) -> bool {
    let mut run = 0;
    let mut last = None;
    word.chars().any(|c| {
        run = if last == Some(c) { run + 1 } else { 0 };
        last = Some(c);
        run >= 2 && c.is_alphabetic()
    })
}

/// Whether a word says what something is like and cannot end a keyphrase.
pub(super) fn is_adjective(word: &str) -> bool {
    ADJECTIVES.contains(word)
        || PRAISE.contains(word)
        || FEELINGS.contains(word)
        || (word.len() > 6
            && !ISH_NOUNS.iter().any(|noun| word.ends_with(noun))
            && ["ful", "ous", "able", "ible", "less", "ish"].iter().any(|e| word.ends_with(e)))
}

/// Nouns that end as adjectives do.
const ISH_NOUNS: &[&str] = &["fish", "spanish", "turkish", "english", "swedish", "finnish"];

/// Whether a word says how somebody feels.
pub(super) fn is_feeling(word: &str) -> bool {
    FEELINGS.contains(word)
}

/// Whether a noun says too little to be a keyphrase: `thing`, `lot`, `way`.
pub(super) fn is_bland_noun(word: &str) -> bool {
    BLAND_NOUNS.contains(word) || is_time_noun(word)
}

/// Whether a noun counts or names time: `day`, `week`, `weekend`, `monday`, `may`.
pub(super) fn is_time_noun(word: &str) -> bool {
    TIME_NOUNS.contains(word)
}

/// Whether a word stands before a noun: an article, a possessive, a number word.
pub(super) fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(word)
}

/// Whether a word is a pronoun, or stands for a noun as one does: `it`, `something`.
pub(super) fn is_pronoun(word: &str) -> bool {
    PRONOUNS.contains(word)
}

/// Whether a word says nothing that is to be remembered.
pub(super) fn is_empty(word: &str) -> bool {
    is_stop_word(word)
        || is_filler(word)
        || is_adverb(word)
        || BLAND_NOUNS.contains(word)
        || is_pronoun(word)
        || CONTRACTIONS.contains(word)
}

/// Whether a word is one of a profession.
pub(super) fn is_occupation(word: &str) -> bool {
    OCCUPATIONS.contains(word)
}

/// Whether a word names a kind of pet, in the singular or plural.
pub(super) fn is_pet(word: &str) -> bool {
    PETS.contains(word)
}

/// Whether a noun names something that happens at a time: `party`, `concert`.
pub(super) fn is_event(word: &str) -> bool {
    EVENTS.contains(word)
}

/// Whether a word denies a verb.
pub(super) fn is_denial(word: &str) -> bool {
    DENIALS.contains(&word)
}

/// Whether a word denies, by itself or at its end: "never", "doesn't".
pub(super) fn denies(word: &str) -> bool {
    word.ends_with("n't") || is_denial(word)
}

/// Words that deny a verb.
const DENIALS: &[&str] = &[
    "not", "never", "hardly", "barely", "scarcely", "rarely", "seldom", "neither", "nor", "almost",
    "nearly",
];

/// A relative or friend, by one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kin {
    /// The relation of a person to such a one; none if the word says too little.
    pub(super) relation: Option<&'static str>,
    /// The pronoun that stands for such a one as a subject.
    pub(super) pronoun: &'static str,
}

/// The relative or friend that a word means.
pub(super) fn kin(word: &str) -> Option<Kin> {
    let row = KIN.iter().find(|row| row.0 == word)?;
    Some(Kin { relation: (!row.1.is_empty()).then_some(row.1), pronoun: row.2 })
}

/// What a relative is called who has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memory) struct Role {
    /// By one word, whichever was said: `mother` of `mom`.
    pub(in crate::memory) name: &'static str,
    /// Whether a person has one such at a time.
    pub(in crate::memory) is_one: bool,
    /// The relation of a person to such a one.
    pub(in crate::memory) relation: &'static str,
}

/// What a relative is called whom a word means; none of friends and others of whom people have many.
pub(super) fn role(word: &str) -> Option<Role> {
    let &(word, relation, _) = KIN.iter().find(|row| row.0 == word)?;
    let is_one = OF_ONE.contains(&relation);
    if !is_one && !OF_SEVERAL.contains(&relation) {
        return None;
    }
    let name = match word {
        "mom" | "mum" => "mother",
        "dad" => "father",
        "fiancé" => "fiance",
        "fiancée" => "fiancee",
        "grandma" => "grandmother",
        "grandpa" => "grandfather",
        "kid" => "child",
        _ => word,
    };
    Some(Role { name, is_one, relation })
}

/// Relations to those of whom a person has one at a time by each word, and to the other relatives who are told of
/// without a name.
const OF_ONE: &[&str] = &["engaged_to", "has_parent", "married_to", "partner_of", "works_for"];
const OF_SEVERAL: &[&str] = &["has_child", "has_grandparent", "has_sibling"];

/// The relation of a person to several, by one word: `kids`, `brothers`; none if the word says too little.
pub(super) fn kin_of_several(word: &str) -> Option<&'static str> {
    let one = match word {
        "children" => "child",
        "twins" => return None,
        _ => word.strip_suffix('s')?,
    };
    kin(one)?.relation
}

/// The words for those whom a person has such a relation to.
pub(super) fn kin_words(relation: &str) -> impl Iterator<Item = &'static str> {
    KIN.iter().filter(move |row| row.1 == relation).map(|row| row.0)
}

/// The relations of a person to relatives and friends.
#[cfg(test)]
pub(super) fn kin_relations() -> impl Iterator<Item = &'static str> {
    KIN.iter().map(|row| row.1).filter(|relation| !relation.is_empty())
}

const KIN: &[(&str, &str, &str)] = &[
    ("son", "has_child", "he"),
    ("daughter", "has_child", "she"),
    ("child", "has_child", "they"),
    ("kid", "has_child", "they"),
    ("baby", "has_child", "they"),
    ("stepson", "has_child", "he"),
    ("stepdaughter", "has_child", "she"),
    ("brother", "has_sibling", "he"),
    ("sister", "has_sibling", "she"),
    ("sibling", "has_sibling", "they"),
    ("twin", "has_sibling", "they"),
    ("husband", "married_to", "he"),
    ("wife", "married_to", "she"),
    ("spouse", "married_to", "they"),
    ("fiance", "engaged_to", "he"),
    ("fiancé", "engaged_to", "he"),
    ("fiancee", "engaged_to", "she"),
    ("fiancée", "engaged_to", "she"),
    ("boyfriend", "partner_of", "he"),
    ("girlfriend", "partner_of", "she"),
    ("partner", "partner_of", "they"),
    ("mother", "has_parent", "she"),
    ("mom", "has_parent", "she"),
    ("mum", "has_parent", "she"),
    ("father", "has_parent", "he"),
    ("dad", "has_parent", "he"),
    ("grandma", "has_grandparent", "she"),
    ("grandmother", "has_grandparent", "she"),
    ("grandpa", "has_grandparent", "he"),
    ("grandfather", "has_grandparent", "he"),
    ("grandson", "has_grandchild", "he"),
    ("granddaughter", "has_grandchild", "she"),
    ("grandchild", "has_grandchild", "they"),
    ("aunt", "has_aunt", "she"),
    ("uncle", "has_uncle", "he"),
    ("cousin", "has_cousin", "they"),
    ("nephew", "has_nephew", "he"),
    ("niece", "has_niece", "she"),
    ("friend", "friend_of", "they"),
    ("buddy", "friend_of", "they"),
    ("neighbor", "neighbour_of", "they"),
    ("neighbour", "neighbour_of", "they"),
    ("colleague", "colleague_of", "they"),
    ("coworker", "colleague_of", "they"),
    ("boss", "works_for", "they"),
    ("teammate", "teammate_of", "they"),
    ("roommate", "roommate_of", "they"),
    ("family", "", "they"),
    ("fam", "", "they"),
    ("kids", "", "they"),
    ("children", "", "they"),
    ("parents", "", "they"),
    ("grandparents", "", "they"),
    ("grandchildren", "", "they"),
    ("grandkids", "", "they"),
    ("sons", "", "they"),
    ("daughters", "", "they"),
    ("sisters", "", "they"),
    ("brothers", "", "they"),
    ("siblings", "", "they"),
    ("friends", "", "they"),
    ("buddies", "", "they"),
    ("cousins", "", "they"),
    ("colleagues", "", "they"),
    ("coworkers", "", "they"),
    ("teammates", "", "they"),
    ("roommates", "", "they"),
    ("neighbors", "", "they"),
    ("neighbours", "", "they"),
    ("team", "", "they"),
    ("band", "", "they"),
    ("crew", "", "they"),
    ("students", "", "they"),
];

static ADVERBS: Words = LazyLock::new(|| {
    list(
        "also already always almost alone along altogether anymore anyway apart around away back \
         barely best better both else enough especially even ever far fast finally first forever \
         forward further hard hardly here however nonstop afterward indeed instead just kinda later lately \
         least less long lots maybe meanwhile more most much nearly never now nowadays often only \
         otherwise perhaps pretty quite rather really recently sometimes somehow soon sorta still \
         super there though together too totally truly twice usually very well yet actually again \
         ahead abroad afterwards once nevertheless therefore thus tonight today tomorrow \
         yesterday ago early late straight all outside inside online definitely absolutely \
         certainly basically honestly literally seriously sure",
    )
});

/// Nouns and adjectives that end as adverbs do.
static LY_NOUNS: Words = LazyLock::new(|| {
    list(
        "family reply supply belly jelly assembly italy lily bully rally monopoly anomaly \
         butterfly dragonfly july ally folly hillbilly melancholy gully trolley holly molly emily \
         sally kelly billy polly ely early daily weekly monthly",
    )
});

static PRAISE: Words = LazyLock::new(|| {
    list(
        "amazing awesome great good nice cool fantastic wonderful lovely incredible brilliant \
         excellent fabulous fun inspiring impressive interesting perfect beautiful gorgeous \
         stunning cute sweet neat rad epic sick special super superb terrific magical magic \
         delicious yummy yum tasty adorable outstanding insane crazy wild thoughtful meaningful \
         powerful unforgettable memorable worthwhile bad best better cozy comfy fulfilling \
         rewarding refreshing awe-inspiring breathtaking fascinating exciting thrilling \
         uplifting heartwarming",
    )
});

static FILLERS: Words = LazyLock::new(|| {
    list(
        "wow woah whoa eh huh hah thanks thank thx ty hey hi hello hiya yo bye goodbye yeah yep yup yes nope \
         nah oh ooh aw aww awww ah aha ha haha hahaha lol lmao omg btw ok okay alright right sure \
         congrats congratulations cheers please sorry welcome absolutely definitely totally \
         exactly indeed agreed true guess um uh hmm hm mm mmm ugh oops yay hooray phew gosh gee \
         damn man dude guys bro sis buddy kudos worries prob props yikes howdy greetings cya ttyl \
         anyways anyway literally honestly basically seriously kinda sorta gonna wanna gotta \
         lemme ya y'all bit bunch ton tons hugs night morning glad",
    )
});

static INTERJECTIONS: Words = LazyLock::new(|| {
    list(
        "yeah yep yup yes no nope nah oh ooh wow woah whoa hey hi hello hiya well ok okay alright \
         aw aww ah aha haha hahaha lol omg btw absolutely definitely totally exactly sure right \
         cool nice great awesome thanks thx congrats cheers sorry indeed agreed true um uh hmm hm \
         mm ugh oops yay phew gosh gee man dude bro so and but plus also anyway anyways then \
         seriously honestly actually basically fortunately luckily sadly unfortunately \
         amazing fantastic wonderful lovely sweet good morning evening afternoon overall bye goodbye",
    )
});

static FEELINGS: Words = LazyLock::new(|| {
    list(
        "happy sad proud excited nervous anxious scared afraid worried stressed overwhelmed \
         grateful thankful thrilled upset angry mad frustrated disappointed lonely tired \
         exhausted relieved hopeful inspired motivated determined confident bummed devastated \
         heartbroken depressed delighted pumped stoked ecstatic embarrassed ashamed jealous \
         nostalgic content calm blessed lucky honored honoured terrified discouraged pleased \
         glad accepted loved burnt bored lost hurt curious passionate eager ready down",
    )
});

static ADJECTIVES: Words = LazyLock::new(|| {
    list(
        "able active actual additional afraid alive amazed available aware big bigger biggest \
         black blue bright brown busy central certain cheap classical cheerful clean clear close cold \
         colorful common complete constant correct creative current dark dear deep different \
         difficult dry due easy emotional empty enough entire essential ex exact expensive extra \
         familiar famous favorite favourite fellow few final fine fit former free fresh \
         friendly full funny general gentle genuine global gold grand gray green grey half handy \
         happier hard healthy heavy helpful hidden high higher historic hot huge important \
         impossible indoor innocent intense involved key kind known large largest last late \
         latest left legit little live local long lost loud low lower loyal lucky main major \
         mental mixed modern moral more narrow natural near necessary new newest next normal obvious \
         odd old older only open orange other outdoor own particular past peaceful personal pink \
         plain pleasant plenty poor popular positive possible precious present pretty previous \
         private professional proper public pure purple quick quiet rare raw real recent red \
         regular relaxed relaxing rich rough round sad safe same scary separate serious several \
         severe sharp short shy similar simple single slow small smart smooth social soft solid \
         sometime sore spare stable steady strange strict strong stuck supportive surreal tall \
         tasty tender thick thin tight tiny top total touching tough true typical ugly \
         unbelievable unexpected unique unusual upcoming useful usual various vast vibrant warm \
         weak weird welcome white whole wide willing wise worse worst worth worthy wrong yellow \
         young younger challenging crucial vital encouraging gratifying enlightening therapeutic \
         nerve-wracking calming freeing soothing welcoming understanding",
    )
});

static BLAND_NOUNS: Words = LazyLock::new(|| {
    list(
        "thing things stuff lot lots way ways bit kind kinds sort sorts type types one ones part \
         parts point points side case fact idea reason time times moment moments place people \
         person someone everyone anyone nobody everybody somebody guy guys girl something \
         everything anything nothing word words number couple few several bunch ton tons \
         everywhere somewhere anywhere while example instance matter piece pieces rest end start \
         top bottom kindness deal worth glimpse look sense touch pic pics photo photos picture \
         pictures image chance progress difference advice luck home fun joy blast stop ages vibe vibes",
    )
});

static TIME_NOUNS: Words = LazyLock::new(|| {
    list(
        "day days week weeks month months year years hour hours minute minutes second seconds \
         weekend weekends morning mornings afternoon afternoons evening evenings night nights \
         today tomorrow yesterday tonight decade monday tuesday wednesday thursday friday \
         saturday sunday mondays tuesdays wednesdays \
         thursdays fridays saturdays sundays january february march april may june july august september october \
         november december spring summer fall autumn winter season am pm",
    )
});

static DETERMINERS: Words = LazyLock::new(|| {
    list(
        "a an the this that these those my your his her its our their some any every each no \
         another two three four five six seven eight nine ten several many few both all such either neither",
    )
});

static PRONOUNS: Words = LazyLock::new(|| {
    list(
        "i me you he him she her it we us they them this that these those one ones something \
         anything everything nothing someone anyone everyone nobody everybody somebody who what \
         which myself yourself himself herself itself ourselves themselves themself mine yours \
         hers ours theirs each other others another there here em y'all",
    )
});

/// Words with an apostrophe that the stop words lack.
static CONTRACTIONS: Words = LazyLock::new(|| {
    list(
        "you've you'll you'd we've we'll we'd they've they'll they'd he'll he'd she'll she'd it'll \
         it'd that'll there'll let's what's who's how's where's cause 'cause ain't could've \
         should've would've must've might've",
    )
});

static OCCUPATIONS: Words = LazyLock::new(|| {
    list(
        "accountant actor actress analyst architect artist assistant attorney author baker banker \
         barber barista bartender biologist blogger builder butcher carpenter cashier chef chemist \
         cleaner clerk coach composer consultant cook counselor counsellor dancer dentist designer \
         developer director doctor driver economist editor electrician engineer entrepreneur \
         farmer filmmaker firefighter florist gardener hairdresser historian illustrator \
         instructor interpreter janitor journalist judge lawyer lecturer librarian manager \
         mechanic midwife model musician novelist nurse officer painter paramedic pharmacist \
         photographer physicist pilot plumber poet policeman politician postman producer professor \
         programmer psychologist receptionist reporter researcher sailor salesman scientist \
         screenwriter secretary seller singer soldier student surgeon tailor teacher therapist \
         trainer translator tutor veterinarian vet welder roofer bricklayer courier optician radiographer \
         physiotherapist paralegal locksmith stonemason upholsterer waiter waitress writer youtuber streamer gamer",
    )
});

static PETS: Words = LazyLock::new(|| {
    list(
        "dog dogs cat cats puppy puppies pup pups kitten kittens hamster hamsters rabbit rabbits \
         bunny parrot parrots turtle turtles tortoise goldfish horse horses pony guinea-pig lizard \
         gecko snake ferret canary budgie pet pets retriever labrador poodle bulldog terrier \
         beagle dachshund corgi husky spaniel chihuahua greyhound collie pug goldendoodle labradoodle",
    )
});

static EVENTS: Words = LazyLock::new(|| {
    list(
        "party parties concert concerts wedding festival conference meeting meetup workshop class \
         classes course lesson lessons game games match tournament race marathon parade show \
         exhibition exhibit ceremony event events fair gala retreat seminar webinar talk lecture \
         camp trip reunion rally contest competition convention fundraiser auction barbecue bbq \
         picnic gig recital premiere screening graduation interview dinner lunch brunch expo \
         celebration prom ball session audition hackathon protest demonstration service",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_by_what_they_do() {
        assert!(is_adverb("quickly") && is_adverb("recently") && !is_adverb("family"));
        assert!(is_filler("wow") && is_filler("sooo") && !is_filler("pottery"));
        assert!(is_adjective("peaceful") && is_adjective("blue") && !is_adjective("garden"));
        assert!(is_empty("the") && is_empty("you've") && !is_empty("garden"));
        assert!(is_pet("puppies") && is_event("wedding") && is_occupation("nurse"));
    }

    #[test]
    fn relatives() {
        let son = kin("son").expect("a relative");
        assert_eq!((son.relation, son.pronoun), (Some("has_child"), "he"));
        assert_eq!(kin("family").expect("a group").relation, None);
        assert_eq!(kin("table"), None);
    }
}
