//! Texts that are handed over for work, or made up: what they tell is not of who speaks.
//!
//! "Please translate this: I live in Paris", "Here's a draft: ...", "Tom wrote me this: ...". Only the
//! sentence that hands over is looked at, which has its marks yet; what follows it in the turn is taken to
//! be of the text. A turn that only asks for a text ("Can you write a letter for me? I live in Rome.") hands
//! none over.

mod cited;
mod supposed;

pub(super) use cited::{cites, opens_quotes, speaks_as, tells_of_self};
use supposed::{is_dreamed, is_played, is_sample, is_supposed};

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
    let command = command_of(&words);
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

/// What a request asks for, behind what is polite.
fn command_of<'w>(words: &[&'w str]) -> &'w str {
    words.iter().copied().find(|word| !POLITE.contains(word)).unwrap_or_default()
}

/// Whether a sentence in small letters asks for work on a text, which is still to come if it is not there: "can you
/// proofread my friend's cover letter?"
pub(super) fn asks_for_work(lower: &str) -> bool {
    let is_text = |word: &&str| TEXTS.contains(word) || WORDING.contains(word);
    is_command(lower) && words_of(lower).iter().any(is_text)
}

/// Whether a sentence in small letters begins with a verb whose object is a text: "translate the next message".
pub(super) fn is_command(lower: &str) -> bool {
    let command = command_of(&words_of(lower));
    WORKED_ON.contains(&command) || MENDED.contains(&command)
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

/// A word by which somebody tells of themselves.
fn is_own(word: &str) -> bool {
    matches!(word, "i" | "i'm" | "i've" | "i'd" | "my" | "we" | "we're" | "we've")
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
    "diary",
];

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
