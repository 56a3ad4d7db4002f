//! Texts that are handed over for work, or made up: what they tell is not of who speaks.
//!
//! "Please translate this: I live in Paris", "Here's a draft: ...", "Tom wrote me this: ...". Only the
//! sentence that hands over is looked at, which has its marks yet; what follows it in the turn is taken to
//! be of the text. A turn that only asks for a text ("Can you write a letter for me? I live in Rome.") hands
//! none over.

/// Whether what follows a sentence is a text that it hands over.
pub(super) fn hands_over(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let ends_in_colon = lower.trim_end().ends_with(':');
    let has_colon = ends_in_colon || lower.contains(": ");
    let command = words.iter().copied().find(|word| !POLITE.contains(word)).unwrap_or_default();
    let is_about_them = has(&["me", "myself", "my"]) && has(OWN);
    let is_mended = MENDED.contains(&command) && (has(TEXTS) || has(WORDING));
    let is_given =
        WORKED_ON.contains(&command) || is_mended || MADE.contains(&command) && has_colon;
    let is_introduced = INTRODUCED.iter().any(|lead| lower.contains(lead)) && has(TEXTS);
    let is_of_another = ends_in_colon && (has(TEXTS) || has(SAID) || has(WORKED_ON));
    !is_about_them && (is_given || is_introduced || is_of_another)
}

/// What stands before the verb of a request.
const POLITE: &[&str] = &[
    "please", "can", "could", "would", "will", "you", "kindly", "help", "me", "to", "ok", "okay",
    "hi", "hey", "hello", "and", "so", "then", "just", "also",
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
    &["grammar", "spelling", "sentence", "sentences", "wording", "punctuation"];

/// Verbs whose object is a text that is to be, behind a colon.
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

/// What introduces one.
const INTRODUCED: &[&str] = &[
    "here's",
    "here’s",
    "here is",
    "here are",
    "consider this",
    "consider the",
    "take this",
    "this is a",
    "below is",
    "following",
];

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
            "Could you fix the grammar.",
            "Write an email to my landlord: Hi Tom.",
            "Tom wrote me this:",
            "Here's a short story.",
            "Consider this scenario.",
            "Sure! Here's a draft: Dear Tom,",
            "Summarize:",
        ] {
            assert!(hands_over(sentence), "{sentence}");
        }
        for sentence in [
            "Can you write a letter for me?",
            "Here are some facts about me:",
            "Here's a text about myself:",
            "I wrote a letter yesterday.",
            "Help me improve my German.",
            "I want to fix my sink.",
            "My news:",
            "I love this story.",
            "I will send it tomorrow.",
            "",
        ] {
            assert!(!hands_over(sentence), "{sentence}");
        }
    }
}
