//! Texts that are handed over for work, or made up: what they tell is not of who speaks.
//!
//! "Please translate this: I live in Paris", "Here's a draft: ...", "Tom wrote me this: ...". Only the
//! sentence that hands over is looked at, which has its marks yet; what follows it in the turn is taken to
//! be of the text. A turn that only asks for a text ("Can you write a letter for me? I live in Rome.") hands
//! none over.

/// Whether what follows a sentence, which may end its line, is a text that it hands over.
pub(super) fn hands_over(sentence: &str, ends_line: bool) -> bool {
    let lower = sentence.trim().to_lowercase().replace('’', "'");
    let words = words_of(&lower);
    if is_forwarded(&lower)
        || is_supposed(&lower)
        || is_played(&lower)
        || is_dreamed(&words)
        || is_asked_about(&lower)
        || lower.split_once(':').is_some_and(|(lead, _)| is_lead(&words_of(lead)))
        || is_sample(&lower)
    {
        return true;
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let ends_in_colon = lower.ends_with(':');
    let has_colon = ends_in_colon || lower.contains(": ");
    let command = words.iter().copied().find(|word| !POLITE.contains(word)).unwrap_or_default();
    let is_mended = MENDED.contains(&command) && (has(TEXTS) || has(WORDING));
    let is_worked_on = WORKED_ON.contains(&command) || is_mended;
    let is_alone = WORKED_ON.contains(&command) && ends_line && !lower.ends_with('?');
    let is_given = (is_worked_on || MADE.contains(&command)) && has_colon || is_alone;
    let is_about_them = has(&["me", "myself", "my"]) && has(OWN);
    // "Story: my husband left."
    let lead = words_of(lower.split_once(':').map_or("", |(lead, _)| lead));
    let is_titled = has_colon
        && lead.len() <= 2
        && lead.last().is_some_and(|word| TEXTS.contains(word))
        && !lead.contains(&"my");
    !is_about_them
        && (is_given
            || is_titled
            || is_introduced(&lower)
            || ends_in_colon && (has(TEXTS) || says(&words))
            || ends_line && is_pasted_below(&words)
            || begins_text(&lower))
}

/// Whether a line says that the words of another one stand below: "Jan sent me this", "see what Jan wrote", "pasting
/// his message below".
fn is_pasted_below(words: &[&str]) -> bool {
    let (first, last) = (words.first().copied().unwrap_or_default(), words.last().copied());
    let is_message = words.iter().any(|word| TEXTS.contains(word) || *word == "message");
    match words {
        [.., sent, "this"] | [.., sent, "me" | "us", "this"] if SENT.contains(sent) => says(words),
        ["see" | "read" | "here's", "what", .., wrote] => SENT.contains(wrote) || *wrote == "said",
        _ => is_message && PASTED.contains(&first) && last == Some("below"),
    }
}

/// "How does this sound?", which is asked of a text that is there.
fn is_asked_about(lower: &str) -> bool {
    let asked = ["how does this ", "how do these ", "does this ", "is this "];
    let is_asked = asked.iter().any(|lead| lower.starts_with(lead));
    let judged = ["sound", "read", "better", "correct", "natural", "grammatical"];
    is_asked && words_of(lower).iter().skip(2).any(|word| judged.contains(word))
}

/// Whether what stands before a colon asks for work on what follows, or says where that is to stand: "now this one", "and
/// in French", "the bio should say", "email to my boss".
fn is_lead(lead: &[&str]) -> bool {
    let is_text = |word: &&str| TEXTS.contains(word) || *word == "resignation";
    match lead {
        ["one"] | [] => false,
        // "Number one: ..." counts.
        [which, "one"] => ["next", "this", "second", "third", "last", "another"].contains(which),
        [.., "this", "one"] => lead.len() <= 4,
        [.., "should", "say" | "read"] | [.., "it" | "them", "say"] => true,
        [.., "line"] => matches!(lead, ["first" | "opening" | "last", _]),
        [.., "grammar" | "english", "check"] | ["check", "my", _, "please"] => true,
        // "I'm fluent in German: I lived in Berlin."
        [first, .., "in" | "into", language] | [first @ ("in" | "into"), language] => {
            LANGUAGES.contains(language) && lead.len() <= 4 && !is_own(first)
        }
        // "Email to HR", "the text I'm sending", "sample resignation".
        [first, "to" | "for", ..] | ["the" | "my", first, "to" | "for", ..] if is_text(first) => {
            true
        }
        ["the" | "my", what, "i'm" | "i", ..] | ["sample" | "example", what] => is_text(what),
        _ => false,
    }
}

/// Whether what stands before a colon names a sample, behind which somebody tells of themselves: "Sample answer: I ...".
fn is_sample(lower: &str) -> bool {
    let Some((lead, behind)) = lower.split_once(':') else { return false };
    let lead = words_of(lead);
    let at = lead.iter().position(|word| SAMPLES.contains(word));
    let is_named = at.is_some_and(|at| at + 2 >= lead.len() || lead[at] == "fixture");
    let is_liked = lead.iter().any(|word| ["favorite", "favourite", "best", "i'm"].contains(word));
    let tells = words_of(behind).first().is_none_or(|word| is_own(word));
    lead.len() <= 7 && is_named && !is_liked && tells
}

/// What is of nobody, or of whoever an exercise is about.
const SAMPLES: &[&str] = &[
    "example",
    "examples",
    "exercise",
    "fixture",
    "homework",
    "hypothetical",
    "patient",
    "readme",
    "sample",
    "samples",
];

/// Languages that texts are put into.
const LANGUAGES: &[&str] = &[
    "chinese",
    "dutch",
    "english",
    "french",
    "german",
    "italian",
    "japanese",
    "polish",
    "portuguese",
    "russian",
    "spanish",
    "turkish",
];

/// Whether what stands behind a colon is of whoever says it: "The card read: My name is Jo", and not "Tom told me: go
/// home", behind which who speaks goes on.
pub(super) fn tells_of_self(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let behind = lower.split_once(": ").map_or("", |(_, behind)| behind);
    words_of(behind).first().is_some_and(|word| is_own(word))
}

/// A word by which somebody tells of themselves.
fn is_own(word: &str) -> bool {
    matches!(word, "i" | "i'm" | "i've" | "i'd" | "my" | "we" | "we're" | "we've")
}

/// Whether a sentence begins words in quotes behind a colon: `It begins: "I am 17 and I live in Oslo.`
pub(super) fn opens_quotes(sentence: &str) -> bool {
    let behind = sentence.split_once(": ").map_or("", |(_, behind)| behind.trim_start());
    behind.starts_with(['"', '“']) && !behind.matches(['"', '“', '”']).count().is_multiple_of(2)
}

/// Whether a sentence has what another one says of themselves, though nothing marks it: "She was like, I live in
/// Rome, and I was like, cool", "a woman said I drank and I lost my job".
pub(super) fn speaks_as(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase().replace('’', "'");
    let words = words_of(&lower);
    let begun = |at: usize| {
        let end = match words.get(at..)? {
            [was, "like" | "all", ..] if ["was", "were", "is", "be"].contains(was) => at + 2,
            [subject, "like" | "all", ..] if subject.ends_with("'s") => at + 2,
            ["said" | "says", "to", "me", ..] => at + 3,
            ["goes" | "said" | "says", ..] => at + 1,
            _ => return None,
        };
        let subject = if words[at].ends_with("'s") {
            Some(&words[at])
        } else {
            words.get(at.wrapping_sub(1))
        };
        let is_other =
            subject.is_some_and(|subject| !matches!(*subject, "i" | "we" | "you" | "it" | "that"));
        (is_other && words.get(end).is_some_and(|word| is_own(word))).then_some(end)
    };
    (0..words.len()).any(|at| begun(at).is_some())
}

/// "My novel starts like this", whatever follows.
fn begins_text(lower: &str) -> bool {
    let lower = lower.trim_end_matches(['.', ':', '!']);
    ["novel", "book", "chapter", "screenplay"].iter().any(|work| lower.contains(work))
        && ["starts like this", "begins like this", "opens like this"]
            .iter()
            .any(|end| lower.ends_with(end))
}

/// How somebody got a text to another one.
const SENT: &[&str] = &["emailed", "messaged", "posted", "sent", "texted", "wrote"];

/// What is done with a message that is passed on.
const PASTED: &[&str] = &["pasting", "copying", "copied", "forwarding", "quoting", "pasted"];

/// Whether a sentence has the words of another one after a colon: "My husband texted me: I live in Oslo."
pub(super) fn cites(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase().replace('’', "'");
    let Some((lead, _)) = lower.split_once(": ") else { return false };
    let lead = words_of(lead);
    let has = |known: &[&str]| lead.iter().any(|word| known.contains(word));
    let is_received = has(RECEIVED) && (has(TEXTS) || has(&["message", "note", "sms"]));
    // "Tom's voicemail", "her LinkedIn", "the card read".
    let of_another = lead.first().is_some_and(|first| {
        matches!(*first, "his" | "her" | "their")
            || first.ends_with("'s")
                && !matches!(*first, "it's" | "here's" | "that's" | "what's" | "there's")
    });
    let is_shown = of_another && lead.last().is_some_and(|last| SHOWN.contains(last));
    let is_read =
        matches!(lead.as_slice(), ["the" | "a", what, "read" | "reads"] if SHOWN.contains(what));
    let is_answer =
        matches!(lead.as_slice(), ["i", "say"] | ["i", "would", "say"] | ["my", "answer"]);
    is_received || is_shown || is_read || is_answer || says(&lead) && !lead.contains(&"asked")
}

/// Where others tell of themselves.
const SHOWN: &[&str] = &[
    "bio",
    "card",
    "caption",
    "diary",
    "linkedin",
    "message",
    "note",
    "page",
    "post",
    "profile",
    "sheet",
    "status",
    "text",
    "tweet",
    "voicemail",
];

/// Whether a line stands above a message that is passed on: a header of it, or what mail programs write.
fn is_forwarded(lower: &str) -> bool {
    let is_header =
        ["from: ", "subject: ", "fwd:", "fw:", "sent: "].iter().any(|name| lower.starts_with(name));
    let is_pointed_at = lower.strip_prefix("see ").is_some_and(|rest| {
        let words = words_of(rest);
        words.contains(&"below")
            && words.iter().any(|word| TEXTS.contains(word) || *word == "message")
    });
    let is_noted = ["forwarded message", "original message", "forwarded email", "forwarded mail"]
        .iter()
        .any(|note| lower.contains(note));
    is_header || is_noted || is_pointed_at && !lower.contains('?')
}

/// "Let's say I live in Texas", whatever follows.
fn is_supposed(lower: &str) -> bool {
    let begins = |lead: &str| {
        let behind = lower.strip_prefix(lead);
        let behind = behind.map(|behind| behind.strip_prefix("that ").unwrap_or(behind));
        behind.is_some_and(|behind| is_state(&words_of(behind)))
    };
    let world = lower.strip_prefix("in ").map(words_of).unwrap_or_default();
    let in_a_world = match world.as_slice() {
        ["my" | "this", world, next, ..] => MADE_WORLDS.contains(world) && is_own(next),
        ["the", "sims", next, ..] => is_own(next),
        [world, next, ..] => WORLDS.contains(world) && is_own(next),
        _ => false,
    };
    SUPPOSED.iter().any(|lead| begins(lead))
        || SUPPOSED_ALWAYS.iter().any(|lead| lower.starts_with(lead))
        || in_a_world
}

/// Whether words say how it is with somebody: "I live in Texas", "I'm a nurse", and not "I'm late", "we meet at five".
fn is_state(words: &[&str]) -> bool {
    let passes = |word: &str| PASSING.contains(&word);
    match words {
        ["i", "am", is, ..] | ["i'm", is, ..] => !passes(is),
        ["i", does, ..] => STATES.contains(does),
        ["my", "name", ..] => true,
        _ => false,
    }
}

/// What somebody does for long.
const STATES: &[&str] =
    &["earn", "have", "live", "lived", "make", "moved", "own", "study", "was", "work", "worked"];

/// What somebody is for a while.
const PASSING: &[&str] = &[
    "crazy", "done", "going", "gonna", "happy", "here", "late", "not", "ready", "right", "sorry",
    "sure", "there", "tired", "wrong",
];

/// How a sentence begins that supposes something of who speaks.
const SUPPOSED: &[&str] = &[
    "assume ",
    "assuming ",
    "imagine ",
    "let's pretend ",
    "let's say ",
    "pretend ",
    "say ",
    "suppose ",
    "supposing ",
];

/// The same, whatever is supposed.
const SUPPOSED_ALWAYS: &[&str] = &[
    "for the sake of argument",
    "for this exercise",
    "here is a hypothetical",
    "here's a hypothetical",
    "hypothetical:",
    "hypothetically",
];

/// Where somebody is another one, by its name.
const WORLDS: &[&str] = &["minecraft", "skyrim", "stardew"];

/// The same of what somebody has made.
const MADE_WORLDS: &[&str] = &["campaign", "dream", "novel", "screenplay", "story"];

/// "Act as a barber", after which somebody else speaks.
fn is_played(lower: &str) -> bool {
    let is_named = |lead: &str| lower.starts_with(lead) || lower.contains(&format!(", {lead}"));
    let is_role = || {
        let lower = lower.replace("role play", "roleplay").replace("role-play", "roleplay");
        let words = words_of(&lower);
        words.iter().position(|word| *word == "roleplay").is_some_and(|at| {
            words[..at]
                .iter()
                .any(|word| ["let's", "let", "want", "wanna", "can", "could"].contains(word))
        })
    };
    PLAYED.iter().any(|lead| is_named(lead))
        || MADE_UP.iter().any(|made_up| lower.contains(made_up))
        || is_role()
}

/// How a sentence begins after which somebody else speaks.
const PLAYED: &[&str] = &[
    "act as ",
    "my character is ",
    "my character:",
    "my d&d ",
    "new campaign:",
    "pretend you're ",
    "pretend you are ",
    "pretend to be ",
    "pretend i'm ",
    "pretend i am ",
    "interview practice",
];

/// What tells that somebody is made up, or that not all of it is true.
const MADE_UP: &[&str] =
    &["want you to act as ", "two truths and a lie:", "mad libs:", "d&d character:"];

/// "I had the weirdest dream last night", and not "I had a dream job".
fn is_dreamed(words: &[&str]) -> bool {
    let is_dream = |at: &usize| matches!(words[*at], "dream" | "nightmare");
    let Some(dream) = (0..words.len()).rfind(is_dream) else { return false };
    let is_whole = words.get(dream + 1).is_none_or(|next| matches!(*next, "last" | "again"));
    let before = &words[dream.saturating_sub(4)..dream];
    is_whole && before.contains(&"had") && !before.contains(&"and")
}

fn words_of(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).collect()
}

/// "Here's a draft", but not "here's the song I love" and "here's my story".
fn is_introduced(lower: &str) -> bool {
    let begins = |lead: &&&str| lower.starts_with(**lead) || lower.contains(&format!("! {lead}"));
    let Some(lead) = INTRODUCED.iter().find(begins) else { return false };
    let behind = lower.split_once(lead).map_or("", |(_, behind)| behind);
    let words = words_of(behind);
    // What is learned by, and told of nobody.
    if matches!(words.as_slice(), ["my", "answers" | "essay" | "homework", ..]) {
        return true;
    }
    let place = words.iter().take(4).position(|word| TEXTS.contains(word));
    let is_own = |word: &str| matches!(word, "my" | "i" | "we" | "our");
    place.is_some_and(|place| !words[..words.len().min(place + 2)].iter().any(|word| is_own(word)))
}

/// Whether another one is told to have said something: not "as I told you".
fn says(words: &[&str]) -> bool {
    let is_own = words.first().is_some_and(|first| matches!(*first, "as" | "like" | "to"));
    // "I already told you".
    let subject = |at: usize| words[..at].iter().rfind(|word| !BESIDE.contains(word));
    let other = |at: usize| subject(at).is_some_and(|word| !matches!(*word, "i" | "you" | "we"));
    !is_own && (0..words.len()).any(|at| SAID.contains(&words[at]) && other(at))
}

/// What stands before the verb of a request.
const POLITE: &[&str] = &[
    "please", "can", "could", "would", "will", "you", "kindly", "help", "me", "to", "ok", "okay",
    "hi", "hey", "hello", "and", "so", "then", "just", "also", "next", "now", "one",
];

/// Verbs whose object is a text that is there.
const WORKED_ON: &[&str] = &[
    "translate",
    "proofread",
    "summarize",
    "summarise",
    "rewrite",
    "rephrase",
    "paraphrase",
    "reword",
    "anonymize",
    "classify",
    "extract",
    "grade",
    "parse",
    "transcribe",
    "pretend",
    "roleplay",
];

/// The same of verbs that have other objects too.
const MENDED: &[&str] = &[
    "shorten", "polish", "edit", "correct", "fix", "improve", "analyze", "analyse", "check",
    "review",
];

/// What is mended of a text.
const WORDING: &[&str] =
    &["grammar", "spelling", "sentence", "sentences", "wording", "punctuation", "english"];

/// Verbs whose object is a text that is to be, after a colon.
const MADE: &[&str] =
    &["write", "draft", "compose", "continue", "finish", "complete", "reply", "send"];

/// What a text is called.
const TEXTS: &[&str] = &[
    "story",
    "poem",
    "lyrics",
    "song",
    "scenario",
    "dialogue",
    "dialog",
    "script",
    "draft",
    "letter",
    "email",
    "e-mail",
    "mail",
    "article",
    "essay",
    "paragraph",
    "passage",
    "text",
    "transcript",
    "template",
    "version",
    "translation",
    "monologue",
    "persona",
    "prompt",
    "quote",
    "excerpt",
    "chapter",
];

/// What somebody did who shows a text of another one.
const RECEIVED: &[&str] = &["got", "get", "received", "forwarding", "forwarded", "found"];

/// What introduces one.
const INTRODUCED: &[&str] =
    &["here's", "here is", "consider this", "consider the", "take this", "this is", "below is"];

/// What may stand between who says something and that they do.
const BESIDE: &[&str] =
    &["already", "just", "also", "once", "even", "have", "had", "i've", "we've", "you've", "then"];

/// What another one did.
const SAID: &[&str] = &[
    "wrote", "writes", "said", "says", "texted", "sent", "messaged", "emailed", "replied",
    "answered", "posted", "told", "asked",
];

/// What is told of oneself, though it is introduced like a text.
const OWN: &[&str] = &[
    "about",
    "facts",
    "fact",
    "profile",
    "details",
    "background",
    "situation",
    "bio",
    "info",
    "introduction",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_handed_over() {
        for sentence in [
            "Please translate this into German:",
            "Please proofread my cover letter:",
            "Write an email to my landlord: Hi Tom.",
            "Tom wrote me this:",
            "Here's a short story.",
            "Consider this scenario.",
            "Sure! Here's a draft: Dear Tom,",
            "Summarize:",
            "Proofread: Dear Sir, I live in Oslo.",
            "Story: my husband left me.",
            "---------- Forwarded message ---------",
            "Fwd:",
            "From: Peter Hall",
            "Subject: hello",
            "See the mail below.",
            "Act as a barber.",
            "I want you to act as a recruiter.",
            "had the weirdest dream last night",
            "I had a dream.",
        ] {
            assert!(hands_over(sentence, false), "{sentence}");
        }
        assert!(hands_over("Translate this", true));
        for sentence in [
            "Can you write a letter for me?",
            "Can you translate \"hello\" into Italian?",
            "Can you summarize what I told you?",
            "Could you help me rewrite my resume?",
            "Check the email I sent.",
            "As I told you earlier:",
            "To answer what you asked:",
            "Here's the song I love.",
            "Here's my story.",
            "Following up on our text yesterday.",
            "Here are some facts about me:",
            "Here's a text about myself:",
            "I wrote a letter yesterday.",
            "Help me improve my German.",
            "I want to fix my sink.",
            "My news:",
            "I love this story.",
            "I will send it tomorrow.",
            "My favorite song: Yesterday.",
            "Note: I live in Oslo now.",
            "Thanks for the message below!",
            "I already told you:",
            "Tom asked me: where do you live?",
            "One thing: I live in Rome.",
            "Did you see the message below?",
            "I moved from: Rome.",
            "",
        ] {
            assert!(!hands_over(sentence, false), "{sentence}");
        }
    }

    #[test]
    fn words_of_another_one_in_the_same_sentence() {
        for sentence in [
            "My husband texted me: I live in Oslo now!",
            "My boss told me: I quit Acme.",
            "I got this text from my son: I live in Bonn.",
        ] {
            assert!(cites(sentence), "{sentence}");
            assert!(!hands_over(sentence, false), "{sentence}");
        }
        for sentence in
            ["I already told you: I live in Rome.", "One thing: I live in Rome.", "Note: hi."]
        {
            assert!(!cites(sentence), "{sentence}");
        }
    }
}
