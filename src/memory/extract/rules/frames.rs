//! What one turn says of those after it: a text of another one that is to be pasted, and a part that is played.
//!
//! "I will paste an email, please make it shorter", "Let's do a role play": what the next turn tells is then not of
//! who speaks. Within a turn [`super::handed`] tells so.

use super::handed;
use super::sentences::Sentence;
use crate::retrieval::words::says;

/// Words of a turn that announces a text, at most.
const ANNOUNCEMENT_WORDS_MAX: usize = 25;

/// Words of an answer that asks for the text, at most: "Sure, go ahead!"
const INVITATION_WORDS_MAX: usize = 25;

/// A turn, as far as it is looked at here.
pub(super) struct Said<'t, 's> {
    pub(super) speaker: Option<&'t str>,
    pub(super) text: &'t str,
    pub(super) sentences: &'s mut Vec<Sentence<'t>>,
}

/// Marks as quoted what turns tell that are of a text which another one announces, or within a play.
pub(super) fn mark(turns: &mut [Said<'_, '_>]) {
    // Who has begun a play ends it.
    let mut player = None;
    for at in 0..turns.len() {
        let (speaker, text) = (turns[at].speaker, turns[at].text);
        if player == Some(speaker) && ends_play(text) {
            player = None;
        }
        if player.is_some() || is_announced(turns, at) {
            turns[at].sentences.iter_mut().for_each(|sentence| sentence.is_quoted = true);
        }
        if player.is_none() && begins_play(text) {
            player = Some(speaker);
        }
    }
}

/// Whether the turn before of the same speaker says that this one is a text.
fn is_announced(turns: &[Said<'_, '_>], at: usize) -> bool {
    let speaker = turns[at].speaker;
    let Some(before) = turns[..at].iter().rposition(|turn| turn.speaker == speaker) else {
        return false;
    };
    let Some(last) = turns[before].sentences.last() else { return false };
    let lower = lowered(last.text);
    let said = lowered(turns[before].text);
    // What is pasted in the same turn is announced no more.
    let is_short = said.split_whitespace().count() <= ANNOUNCEMENT_WORDS_MAX;
    let is_next = said.contains("next message") && handed::is_command(&said);
    if is_short && (is_next || PASTES.iter().any(|cue| said.contains(cue))) {
        return true;
    }
    // "Can you proofread my cover letter?" "Sure, paste it here!"
    let is_invited = turns[before + 1..at].iter().any(|turn| invites(turn.text));
    is_invited && handed::asks_for_work(&lower)
}

/// Whether a turn asks for a text, and says hardly more: not "Sure! Where do you work?"
fn invites(text: &str) -> bool {
    let is_short = text.split_whitespace().count() <= INVITATION_WORDS_MAX;
    let asks_else =
        text.trim_end().ends_with('?') && !says(text, &["paste", "provide", "send", "share"]);
    is_short && !asks_else && says(text, INVITES) && !says(text, &["not", "unsure"])
}

fn begins_play(text: &str) -> bool {
    let lower = lowered(text).replace("role play", "roleplay").replace("role-play", "roleplay");
    let is_led = |lead: &&str| {
        lower.starts_with(*lead)
            || lower.contains(&format!(". {lead}"))
            || lower.contains(&format!(", {lead}"))
    };
    PLAYS.iter().any(is_led)
}

fn ends_play(text: &str) -> bool {
    let lower = lowered(text);
    PLAY_ENDS.iter().any(|cue| lower.contains(cue))
        || ["thanks", "thank you"].iter().any(|lead| lower.starts_with(lead))
}

fn lowered(text: &str) -> String {
    text.trim().to_lowercase().replace('’', "'")
}

/// What says that the next turn is pasted.
const PASTES: &[&str] = &[
    "i will paste",
    "i'll paste",
    "gonna paste",
    "going to paste",
    "let me paste",
    "i will send you the text",
    "i'll send you the text",
    "the customer's message:",
    "message from a customer:",
];

/// What asks for a text that is to be worked on.
const INVITES: &[&str] = &[
    "go ahead",
    "happy to",
    "of course",
    "paste",
    "please provide",
    "please send",
    "please share",
    "send it",
    "share it",
    "sure",
];

/// How a play begins that goes on over turns.
const PLAYS: &[&str] = &[
    "let's do a roleplay",
    "let's do improv",
    "let's do some improv",
    "let's play a game where",
    "let's practice an interview",
    "let's practise an interview",
    "let's roleplay",
    "pretend to be a ",
    "pretend to be an ",
    "pretend to be my ",
    "pretend you're a ",
    "pretend you are a ",
];

/// What ends it.
const PLAY_ENDS: &[&str] = &[
    "back to reality",
    "end of the role",
    "end the role",
    "let's stop",
    "out of character",
    "out of the role",
    "stop the role",
    "that was fun",
];
