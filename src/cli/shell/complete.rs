//! What may stand at the cursor: keywords, functions and names of the open database.
//!
//! It is a function of the text and the names alone; it reads no database and no disk.

use std::collections::BTreeSet;

use engraph::{Token, TokenKind, quote, tokens};

use super::command::{self, Argument};
use super::highlight::{innermost, is_keyword};

/// The names that a database, and the shell, know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    pub(super) labels: BTreeSet<String>,
    pub(super) relations: BTreeSet<String>,
    pub(super) properties: BTreeSet<String>,
    /// Names that `.let` has given a value, without their `$`.
    pub(super) params: BTreeSet<String>,
}

const INTENTS: &[&str] = &["causal", "contrast", "evolution", "fact", "temporal"];

/// The byte at which the word at the cursor begins, and what it may become, sorted. `position` is
/// the cursor's byte; what stands after it does not matter.
pub(super) fn complete(text: &str, position: usize, names: &Names) -> (usize, Vec<String>) {
    let Some(before) = text.get(..position) else { return (position, Vec::new()) };
    let (start, mut found) = match before.trim_start().starts_with('.') {
        true => command(before, names),
        false => statement(before, names),
    };
    found.sort_unstable();
    (start, found)
}

/// The argument at the cursor, if it is a file or folder: its first byte, and which of the two.
pub(super) fn path_argument(text: &str, position: usize) -> Option<(usize, Argument)> {
    let before = text.get(..position)?;
    let (name, rest) = before.trim_start().split_once(' ')?;
    let argument = command::entry(name)?.argument;
    let is_path = matches!(argument, Argument::File | Argument::Folder);
    is_path.then(|| (before.len() - rest.trim_start().len(), argument))
}

fn command(text: &str, names: &Names) -> (usize, Vec<String>) {
    let line = text.trim_start();
    let Some((name, rest)) = line.split_once(char::is_whitespace) else {
        let all = command::COMMANDS.iter().filter(|entry| begins(entry.name, line));
        let with_blank = |entry: &command::Entry| match entry.argument {
            Argument::None => owned(entry.name),
            _ => format!("{} ", entry.name),
        };
        return (text.len() - line.len(), all.map(with_blank).collect());
    };
    let start = text.len() - rest.trim_start().len();
    match command::entry(name).map(|entry| entry.argument) {
        Some(Argument::Words(words)) => (start, matching(rest.trim_start(), words.iter().copied())),
        Some(Argument::Command) => {
            let all = command::COMMANDS.iter().map(|entry| entry.name);
            (start, matching(rest.trim_start(), all))
        }
        Some(Argument::Expression) => {
            let at = text.len() - rest.len();
            let (start, found) = statement(rest, names);
            (at + start, found)
        }
        _ => (text.len(), Vec::new()),
    }
}

/// The last statement in the text.
fn statement(text: &str, names: &Names) -> (usize, Vec<String>) {
    let all: Vec<Token> = tokens(text).collect();
    let begin =
        all.iter().rposition(|token| token.kind == TokenKind::Sign(';')).map_or(0, |at| at + 1);
    let (before, start) = match all.split_last() {
        // Within a text or comment everything goes.
        Some((last, _)) if last.is_open && last.kind != TokenKind::Quoted => {
            return (text.len(), Vec::new());
        }
        Some((last, _)) if is_partial(last, text) => (&all[begin..all.len() - 1], last.range.start),
        _ => (&all[begin..], text.len()),
    };
    let partial = &text[start..];
    (start, Place { text, before, names }.candidates(partial))
}

/// Whether the last token is a word that goes on at the cursor.
fn is_partial(token: &Token, text: &str) -> bool {
    let is_word = matches!(token.kind, TokenKind::Word | TokenKind::Parameter) || token.is_open;
    is_word && token.range.end == text.len()
}

/// What stands before the word at the cursor, in its statement.
struct Place<'t> {
    text: &'t str,
    before: &'t [Token],
    names: &'t Names,
}

impl Place<'_> {
    fn candidates(&self, partial: &str) -> Vec<String> {
        let names = self.names;
        if let Some(start) = partial.strip_prefix('$') {
            let found = matching(start, names.params.iter().map(String::as_str));
            return found.into_iter().map(|name| format!("${name}")).collect();
        }
        match self.sign(0) {
            Some('.') => return properties(names, partial),
            Some(':' | '|') => match innermost(self.before) {
                Some('[') => return quoted(&names.relations, partial),
                Some('{') => {}
                _ => return quoted(&names.labels, partial),
            },
            Some('[') if self.is_fact_to_store() => return quoted(&names.relations, partial),
            Some('{' | ',') if innermost(self.before) == Some('{') => {
                return properties(names, partial);
            }
            _ => {}
        }
        match (self.word(0).as_str(), self.word(1).as_str()) {
            ("INTENT", _) => matching(partial, INTENTS.iter().copied()),
            ("RELATION", "DEFINE") | ("OF", "INVERSE") => quoted(&names.relations, partial),
            _ => self.words(partial),
        }
    }

    /// Keywords in the case of what was typed, functions, and the statement's variables.
    fn words(&self, partial: &str) -> Vec<String> {
        let is_lower = partial.chars().next().is_some_and(char::is_lowercase);
        let keywords: Vec<&str> = match self.before {
            [] => engraph::statement_keywords().collect(),
            _ => engraph::keywords().collect(),
        };
        let keywords = keywords.into_iter().filter(|word| begins(word, partial));
        let mut found: BTreeSet<String> = keywords
            .map(|word| if is_lower { word.to_lowercase() } else { word.to_owned() })
            .collect();
        if !self.before.is_empty() {
            let functions = engraph::function_names().filter(|name| begins(name, partial));
            found.extend(functions.map(|name| format!("{name}(")));
            let variables = self.variables();
            found.extend(variables.into_iter().filter(|name| begins(name, partial)).map(owned));
        }
        found.into_iter().collect()
    }

    /// Names that a pattern, a path or `AS` binds.
    fn variables(&self) -> BTreeSet<&str> {
        let bound = |index: &usize| {
            let kind = |at: Option<usize>| at.and_then(|at| self.before.get(at)).map(|t| t.kind);
            let (before, after) = (kind(index.checked_sub(1)), kind(Some(index + 1)));
            let is_bound = match before {
                Some(TokenKind::Sign('(' | '[')) => after != Some(TokenKind::Sign('(')),
                Some(TokenKind::Word) => match self.upper(index - 1).as_str() {
                    "AS" | "SEARCH" | "GENERATE" | "ANCHOR" | "ACTIVATE" | "REPRESENT"
                    | "ADMIT" => true,
                    _ => after == Some(TokenKind::Sign('=')),
                },
                _ => false,
            };
            self.before[*index].kind == TokenKind::Word
                && is_bound
                && !is_keyword(self.piece(*index))
        };
        (0..self.before.len()).filter(bound).map(|index| self.piece(index)).collect()
    }

    /// `-[` in `REMEMBER`, where a relation stands without a colon.
    fn is_fact_to_store(&self) -> bool {
        self.sign(1) == Some('-')
            && self.before.first().is_some_and(|_| self.upper(0) == "REMEMBER")
    }

    fn piece(&self, index: usize) -> &str {
        &self.text[self.before[index].range.clone()]
    }

    fn upper(&self, index: usize) -> String {
        self.piece(index).to_uppercase()
    }

    /// The sign so many tokens before the cursor's word.
    fn sign(&self, back: usize) -> Option<char> {
        match self.before.iter().rev().nth(back)?.kind {
            TokenKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    /// The word so many tokens before the cursor's, in capitals.
    fn word(&self, back: usize) -> String {
        match self.before.len().checked_sub(back + 1) {
            Some(index) if self.before[index].kind == TokenKind::Word => self.upper(index),
            _ => String::new(),
        }
    }
}

fn properties(names: &Names, partial: &str) -> Vec<String> {
    let mut all = names.properties.clone();
    all.extend(engraph::property_names().map(owned));
    quoted(&all, partial)
}

/// Names as MemQL writes them: between back quotes where they are no plain name.
fn quoted(names: &BTreeSet<String>, partial: &str) -> Vec<String> {
    let typed = partial.strip_prefix('`').unwrap_or(partial);
    let known = names.iter().filter(|name| !name.is_empty() && begins(name, typed));
    known
        .filter(|name| !name.contains(char::is_control))
        .map(|name| match typed == partial {
            true => quote(name),
            false => format!("`{}`", name.replace('`', "``")),
        })
        .collect()
}

fn matching<'n>(partial: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.filter(|name| begins(name, partial)).map(owned).collect()
}

fn owned(name: &str) -> String {
    name.to_owned()
}

/// Whether a name begins so, in any case.
fn begins(name: &str, start: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    start.chars().flat_map(char::to_lowercase).all(|letter| letters.next() == Some(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let set = |names: &[&str]| names.iter().map(|&name| owned(name)).collect();
        Names {
            labels: set(&["Person", "Place", "Old one"]),
            relations: set(&["lives_in", "likes", "works at"]),
            properties: set(&["age", "motto"]),
            params: set(&["before", "who"]),
        }
    }

    /// The text up to the word, and what it may become.
    fn at_end(text: &str) -> (&str, Vec<String>) {
        let (start, found) = complete(text, text.len(), &names());
        (&text[..start], found)
    }

    #[track_caller]
    fn check(text: &str, kept: &str, expected: &[&str]) {
        let (start, found) = at_end(text);
        assert_eq!((start, found), (kept, expected.iter().map(|&name| owned(name)).collect()));
    }

    #[test]
    fn keywords_follow_the_case_that_was_typed() {
        check("MAT", "", &["MATCH"]);
        check("mat", "", &["match"]);
        check("RETURN 1; sho", "RETURN 1; ", &["show"]);
        check("MATCH (p) RET", "MATCH (p) ", &["RETRACT", "RETURN", "retention("]);
        assert!(at_end("").1.contains(&owned("REMEMBER")));
        assert!(!at_end("").1.contains(&owned("AND")));
        check("RETURN 'MAT", "RETURN 'MAT", &[]);
        check("-- MAT", "-- MAT", &[]);
    }

    #[test]
    fn labels_relations_and_properties_by_where_they_stand() {
        check("MATCH (p:P", "MATCH (p:", &["Person", "Place"]);
        check("MATCH (:Person|pl", "MATCH (:Person|", &["Place"]);
        check("MATCH (p:`o", "MATCH (p:", &["`Old one`"]);
        check("MATCH (p:o", "MATCH (p:", &["`Old one`"]);
        check("MATCH (p)-[f:li", "MATCH (p)-[f:", &["likes", "lives_in"]);
        check("MATCH (p)-[:likes|w", "MATCH (p)-[:likes|", &["`works at`"]);
        check("REMEMBER (:Person 'a')-[li", "REMEMBER (:Person 'a')-[", &["likes", "lives_in"]);
        check("DEFINE RELATION l", "DEFINE RELATION ", &["likes", "lives_in"]);
        check("MATCH (p) RETURN p.mo", "MATCH (p) RETURN p.", &["motto"]);
        check("MATCH (p:Person {ag", "MATCH (p:Person {", &["age"]);
        check("MATCH (p:Person {age: 1, mo", "MATCH (p:Person {age: 1, ", &["motto"]);
        check("MATCH (p) WHERE p:Per", "MATCH (p) WHERE p:", &["Person"]);
        check("DEFINE RELATION x INTENT c", "DEFINE RELATION x INTENT ", &["causal", "contrast"]);
        assert!(at_end("RETURN p.").1.contains(&owned("valid_from")));
    }

    #[test]
    fn variables_functions_and_parameters() {
        check(
            "MATCH (person)-[pay]->() RETURN pers",
            "MATCH (person)-[pay]->() RETURN ",
            &["person"],
        );
        let route = "MATCH route = (a) RETURN rout";
        check(route, "MATCH route = (a) RETURN ", &["route"]);
        // A name of an earlier statement is none of this one.
        check(
            "MATCH (person) RETURN 1; MATCH (q) RETURN pers",
            "MATCH (person) RETURN 1; MATCH (q) RETURN ",
            &[],
        );
        check("RETURN simi", "RETURN ", &["similarity("]);
        check("RETURN $", "RETURN ", &["$before", "$who"]);
        check("RETURN $w", "RETURN ", &["$who"]);
        check("MATCH (n {key: $b", "MATCH (n {key: ", &["$before"]);
    }

    #[test]
    fn commands_and_their_arguments() {
        check(".re", "", &[".read ", ".relations"]);
        check(".mode j", ".mode ", &["json", "jsonl"]);
        check(".timer ", ".timer ", &["off", "on"]);
        check(".help .ti", ".help ", &[".timer"]);
        check(".explain MATCH (p:Per", ".explain MATCH (p:", &["Person"]);
        check(".let x = $w", ".let x = ", &["$who"]);
        check(".nothing x", ".nothing x", &[]);
        assert_eq!(path_argument(".read a b", 9), Some((6, Argument::File)));
        assert_eq!(path_argument(".open my", 8), Some((6, Argument::Folder)));
        assert_eq!(path_argument(".mode my", 8), None);
    }

    #[test]
    fn any_text_and_position_is_taken() {
        let text = "MATCH (ä:`日本 {'\\";
        for position in 0..text.len() + 2 {
            complete(text, position, &names());
            path_argument(text, position);
        }
    }
}
