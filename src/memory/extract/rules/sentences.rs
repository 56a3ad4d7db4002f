//! A turn cut into sentences, and the caption of its picture.
//!
//! Works on marks alone, but for some abbreviations and texts that are handed over ([`handed`]).

use std::ops::Range;

use super::handed;
use crate::retrieval::words::Word;

/// Bytes of a turn that are looked at.
pub(super) const TURN_BYTES_MAX: usize = 16 << 10;

/// Sentences of a turn that are looked at.
const SENTENCES_MAX: usize = 64;

/// What stands before the caption of a picture (see `text::of_node`).
const CAPTION: &str = "[image:";

/// What is said between two stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sentence<'t> {
    /// Without the marks at its ends.
    pub(super) text: &'t str,
    /// A question mark ends it.
    pub(super) is_question: bool,
    /// It begins within quotes that an earlier one may have opened, its line begins with `>`, or it is of
    /// a text that an earlier one hands over.
    pub(super) is_quoted: bool,
    /// What follows it is not told of whoever speaks.
    hands_over: bool,
    /// What follows it in its line goes on with the words of another one.
    cites: bool,
}

/// What was said in a turn, of its first 16 KiB, and the caption of its picture.
pub(super) fn said_and_shown(text: &str) -> (&str, Option<&str>) {
    let text = &text[..text.floor_char_boundary(TURN_BYTES_MAX)];
    match text.rfind(CAPTION) {
        Some(at) => {
            let caption = text[at + CAPTION.len()..].trim().trim_end_matches(']').trim();
            (&text[..at], (!caption.is_empty()).then_some(caption))
        }
        None => (text, None),
    }
}

/// The sentences of a text, at most 64; dashes and semicolons between blanks end one too.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let others = said_by_others(text);
    for (at, c) in text.char_indices() {
        if at < start || !is_stop(text, at, c) {
            continue;
        }
        let marks = |c: char| matches!(c, '.' | '!' | '?' | '…' | '"' | '”' | ')' | '。');
        let rest = &text[at..];
        let length = rest.find(|c| !marks(c)).unwrap_or(rest.len()).max(c.len_utf8());
        push(&mut found, text, start..at + length, &others);
        start = at + length;
        if found.len() >= SENTENCES_MAX {
            return found;
        }
    }
    push(&mut found, text, start..text.len(), &others);
    found
}

/// Whether a place is within quotes or a fence of code, or its line is one that was quoted.
fn is_within_quotes(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let mut is_open = false;
    let mut last = ' ';
    // The next quote that is known, and whether it closes.
    let mut next: Option<(usize, bool)> = None;
    for (place, c) in before.char_indices() {
        match c {
            '“' => is_open = true,
            '”' => is_open = false,
            // 6" is a length.
            '"' if is_open || !last.is_ascii_digit() => is_open = !is_open,
            // Those that nothing ends are of their line alone.
            '\n' if is_open => {
                let known = next.filter(|(at, _)| *at > place);
                next = known.or_else(|| next_quote(text, place));
                is_open = next.is_some_and(|(_, closes)| closes);
            }
            _ => {}
        }
        last = c;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_fenced = !before.matches("```").count().is_multiple_of(2);
    let whole_line = text.get(at - line.len()..).unwrap_or_default();
    let is_code = begins_code(whole_line.trim_start());
    is_open || is_fenced || is_code || is_within_backticks(text, at)
}

/// Whether a line is of a quotation, of code or of a page: a heart begins none.
fn begins_code(line: &str) -> bool {
    let is_tag =
        |behind: &str| behind.starts_with(|c: char| c.is_ascii_alphabetic() || "/!".contains(c));
    [">", "//", "/*"].iter().any(|mark| line.starts_with(mark))
        || line.strip_prefix('<').is_some_and(is_tag)
}

/// Whether somebody tells of themselves in code: "const bio = `I live in Paris`".
fn has_code(text: &str) -> bool {
    ["`I ", "`I'm ", "`My ", "`We "].iter().any(|code| text.contains(code))
}

/// Whether a place is in code within a line: "`I live in Texas`".
fn is_within_backticks(text: &str, at: usize) -> bool {
    let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    let is_mark = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let opens = |(place, _): &(usize, &str)| is_mark(before[..*place].chars().next_back());
    let marks = before.match_indices('`').filter(opens).count();
    !before.contains("```") && !marks.is_multiple_of(2) && behind.contains('`')
}

/// The next quote after a place, and whether it closes: something stands before it, and no word after it.
fn next_quote(text: &str, place: usize) -> Option<(usize, bool)> {
    let at = place + text.get(place..)?.find(['"', '”'])?;
    let before = text.get(..at)?.chars().next_back();
    let behind = text.get(at..)?.chars().nth(1);
    let closes =
        before.is_some_and(|c| !c.is_whitespace()) && behind.is_none_or(|c| !c.is_alphanumeric());
    Some((at, closes || text.get(at..)?.starts_with('”')))
}

/// The parts of a text that others say: within single quotes, and the lines of a chat that was pasted.
fn said_by_others(text: &str) -> Vec<Range<usize>> {
    let mut parts = single_quoted(text);
    parts.extend(lines_of_chat(text));
    parts.extend(lines_of_roles(text));
    parts
}

/// The lines of a talk with a machine that was pasted: "user: I live in Texas", and of any two roles that answer each
/// other.
fn lines_of_roles(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let (mut lines, mut roles) = (Vec::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        at += line.len();
        let role = line.trim().split_once(':').map_or("", |(role, _)| role).to_ascii_lowercase();
        if ROLES.contains(&role.as_str()) {
            lines.push(at - line.len()..at);
            roles.push(role);
        }
    }
    let is_machine = roles.iter().any(|role| role == "user" || role == "assistant");
    let answers = roles.iter().any(|role| *role != roles[0]);
    if is_machine || answers { lines } else { Vec::new() }
}

/// Who speaks in a talk that is pasted.
const ROLES: &[&str] =
    &["agent", "ai", "assistant", "bot", "customer", "human", "patient", "system", "user"];

/// What somebody says within single quotes: from one before `I` or `My` to one behind a stop, since others are apostrophes
/// and titles.
fn single_quoted(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some((open, mark)) =
        text.get(start..).and_then(|rest| rest.match_indices(['\'', '‘']).next())
    {
        let open = start + open;
        start = open + mark.len();
        let inner = &text[start..];
        let is_first = text[..open].ends_with([' ', '\n', '(', ':']) || open == 0;
        let is_own = ["I ", "I'm ", "I’m ", "My ", "We "].iter().any(|own| inner.starts_with(own));
        if !is_first || !is_own {
            continue;
        }
        let closes = |(at, mark): &(usize, &str)| {
            let behind = inner[at + mark.len()..].chars().next();
            inner[..*at].ends_with(['.', '!', '?']) && behind.is_none_or(|c| !c.is_alphanumeric())
        };
        // What nothing closes is closed nowhere behind it either.
        let Some((close, _)) = inner.match_indices(['\'', '’']).find(closes) else { break };
        found.push(start..start + close);
        start += close;
    }
    found
}

/// The lines of a chat that was pasted, but for those of who speaks: they begin with who said them, who take turns, or the
/// later one of whom is `Me`.
fn lines_of_chat(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.extend(speaker_of_line(line).map(|name| (name, at..at + line.len())));
        at += line.len();
    }
    let is_me = |name: &str| name.eq_ignore_ascii_case("me");
    let take_turns =
        |three: &[(&str, Range<usize>)]| three[0].0 == three[2].0 && three[0].0 != three[1].0;
    let answers =
        lines.first().is_some_and(|line| !is_me(line.0)) && lines.iter().any(|line| is_me(line.0));
    if !answers && !lines.windows(3).any(take_turns) {
        return Vec::new();
    }
    lines.into_iter().filter(|line| !is_me(line.0)).map(|line| line.1).collect()
}

/// Who said a line of a chat: "Jan: I moved".
fn speaker_of_line(line: &str) -> Option<&str> {
    let (name, said) = line.trim().split_once(": ")?;
    let words = name.split(' ').count();
    // "Q: ..., A: ..." is a form.
    let is_form = name.len() == 1 || matches!(name, "Question" | "Answer");
    let is_name =
        name.starts_with(char::is_uppercase) && words <= 2 && name.len() <= 40 && !is_form;
    (is_name && !said.trim().is_empty()).then_some(name)
}

fn push<'t>(
    found: &mut Vec<Sentence<'t>>,
    whole: &'t str,
    range: Range<usize>,
    others: &[Range<usize>],
) {
    let text = &whole[range.clone()];
    if !text.chars().any(char::is_alphanumeric) {
        return;
    }
    if let Some(said) = declared(text) {
        push(found, whole, range.start + said.start..range.start + said.end, others);
        return push(found, whole, range.start + said.end..range.end, others);
    }
    let first = text.find(char::is_alphanumeric).unwrap_or(0);
    let is_quoted = is_within_quotes(whole, range.start + first);
    let is_of_text = found.last().is_some_and(|last| last.hands_over);
    let ends_line =
        text.ends_with('\n') || whole[range.end..].trim_start_matches(' ').starts_with('\n');
    let hands_over = is_of_text || handed::hands_over(text, ends_line);
    let goes_on = found.last().is_some_and(|last| last.cites);
    let cites = handed::cites(text);
    let said = range.start + first..range.end;
    let is_of_another = others.iter().any(|part| part.start < said.end && said.start < part.end);
    let is_quoted = is_quoted || is_of_text || is_of_another;
    // What is handed over may begin in the same sentence.
    let is_begun =
        hands_over && text.contains(": ") || handed::opens_quotes(text) || has_code(text);
    let is_quoted = is_quoted || is_begun || cites || goes_on || handed::speaks_as(text);
    let cites = (cites && handed::tells_of_self(text) || goes_on) && !ends_line;
    let is_question = text.trim_end_matches(['"', '”', ')', '!', '.']).ends_with(['?', '？']);
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '"' | '“' | '”' | '+' | '%' | ')');
    let text = text.trim_matches(|c: char| is_edge(c) && c != '(');
    let text =
        if text.starts_with('(') || text.contains('(') { text } else { text.trim_end_matches(')') };
    let is_closed = text.matches(['"', '“', '”']).count().is_multiple_of(2);
    let text = if is_closed { text } else { text.trim_matches(['"', '“', '”']) };
    if text.chars().any(char::is_alphanumeric) {
        found.push(Sentence { text, is_question, is_quoted, hands_over, cites });
    }
}

/// What somebody says of themselves before a question about it: "I'm vegan, what can I eat?", "Since I'm vegan, ...".
fn declared(text: &str) -> Option<Range<usize>> {
    if !text.trim_end().ends_with('?') {
        return None;
    }
    let start = text.find(|c: char| !c.is_whitespace())?;
    let plain = |word: &str| word.trim_matches([',', '.']).to_lowercase().replace('’', "'");
    let mut words = text[start..].split(' ').map(plain);
    let first = words.next()?;
    let is_reason = matches!(first.as_str(), "since" | "because");
    let (subject, verb) = match is_reason {
        true => (words.next()?, words.next()?),
        false => (first.clone(), String::new()),
    };
    let is_state = matches!(subject.as_str(), "i'm" | "my")
        || matches!(verb.as_str(), "am" | "have" | "live" | "work");
    let start = start + if is_reason { first.len() + 1 } else { 0 };
    if !OWN.contains(&subject.as_str()) || is_reason && !is_state {
        return None;
    }
    let asks = |at: &usize| {
        let mut behind = text[at + 2..].split(' ').map(plain);
        let Some(mut word) = behind.next() else { return false };
        if matches!(word.as_str(), "so" | "and" | "but") {
            word = behind.next().unwrap_or_default();
        }
        let next = behind.next().unwrap_or_default();
        // "I'm vegan, am I?"
        let is_tag = next.trim_end_matches('?') == "i";
        ASKS.contains(&word.as_str()) && !is_tag
            || matches!(word.as_str(), "have" | "has") && matches!(next.as_str(), "you" | "anyone")
    };
    let is_played = ["game", "novel", "story", "typed"].iter().any(|word| text.contains(word));
    if is_played || text[start..].starts_with("I guess") {
        return None;
    }
    let end = text.rmatch_indices(", ").map(|(at, _)| at).find(asks)?;
    (start < end).then_some(start..end)
}

/// How somebody begins to tell of themselves.
const OWN: &[&str] = &["i", "i'm", "im", "i've", "my", "we", "we're", "we've", "our"];

/// How a question begins.
const ASKS: &[&str] = &[
    "any", "am", "are", "can", "could", "did", "do", "does", "how", "how's", "is", "may", "shall",
    "should", "was", "what", "what's", "when", "where", "where's", "which", "who", "who's", "why",
    "will", "would",
];

/// Whether a sentence ends at a mark.
fn is_stop(text: &str, at: usize, c: char) -> bool {
    let after = text[at + c.len_utf8()..].chars().next();
    let before = text[..at].chars().next_back();
    let is_open = after.is_none_or(|c| !c.is_alphanumeric());
    match c {
        '!' | '?' | '\n' | '…' | '。' | '！' | '？' | '؟' | '।' => true,
        '.' => is_open && !ends_in_abbreviation(&text[..at]),
        ';' => is_open,
        '-' => before == Some(' ') && after == Some(' '),
        // "2012–2016" is one period.
        '–' | '—' => {
            let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            !(is_digit(before) && is_digit(after))
        }
        _ => false,
    }
}

fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let word = word.trim_start_matches(['"', '“', '\'']);
    let is_initial = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_dotted = word.len() <= 5 && word.contains('.') && word.is_ascii();
    is_initial && word != "I" || is_dotted || ABBREVIATIONS.contains(&word)
}

const ABBREVIATIONS: &[&str] = &[
    "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Mt", "Ft", "Pt", "vs", "etc", "Jr", "Sr", "approx",
    "No",
];

/// What is written with a stop in front of a name that it is of.
const TITLES: &[&str] = &["dr", "ft", "mr", "mrs", "ms", "mt", "prof", "pt", "st"];

/// What stands between two neighbouring words.
pub(super) fn gap<'t>(text: &'t str, before: &Word, after: &Word) -> &'t str {
    text.get(before.range.end..after.range.start).unwrap_or_default()
}

/// Whether two neighbouring words belong to one phrase: a blank or a hyphen lies between them, the
/// possessive of a plural, or what joins the words of a name (`St. Louis`, `H&M`).
pub(super) fn is_joined(text: &str, before: &Word, after: &Word) -> bool {
    let are_capital = before.is_capital && after.is_capital;
    match gap(text, before, after) {
        " " | "-" | "+ " | "' " | "’ " => true,
        "&" | " & " => are_capital,
        ". " => are_capital && TITLES.contains(&before.lower.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_end_at_stops() {
        for (text, expected) in [
            (
                "Hi Nora! I met Dr. Weiss at 5.30 p.m. today. Good?",
                vec!["Hi Nora", "I met Dr. Weiss at 5.30 p.m. today", "Good"],
            ),
            ("I paint - it calms me", vec!["I paint", "it calms me"]),
            ("a well-known song; really...", vec!["a well-known song", "really"]),
            ("I read \"Dune.\" It is long 😀", vec!["I read \"Dune.\"", "It is long"]),
            ("東京に行く。楽しい！", vec!["東京に行く", "楽しい"]),
            ("", vec![]),
            ("?!", vec![]),
        ] {
            let found = texts(text);
            assert_eq!(found, expected, "{text}");
        }
        let questions: Vec<bool> =
            sentences("Really? Yes. \"Why?\" Ok").iter().map(|s| s.is_question).collect();
        assert_eq!(questions, [true, false, true, false]);
    }

    #[test]
    fn captions_are_set_apart() {
        assert_eq!(said_and_shown("Look! [image: a red bowl]"), ("Look! ", Some("a red bowl")));
        assert_eq!(said_and_shown("Look!"), ("Look!", None));
        assert_eq!(said_and_shown("[image: ]"), ("", None));
        assert_eq!(said_and_shown(&"é".repeat(1 << 20)).0.len(), TURN_BYTES_MAX);
    }

    #[test]
    fn so_many_sentences() {
        assert_eq!(sentences(&"a. ".repeat(1000)).len(), SENTENCES_MAX);
    }
}
