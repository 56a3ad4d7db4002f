//! The commands that begin with a point: their names, their help, and what was typed as one.
//!
//! It decides nothing about the database; it only reads a line.

use std::path::PathBuf;

use clap::ValueEnum;
use engraph::statement_keywords;
use engraph_grammar::closest;

use crate::cli::args::Format;
use crate::cli::{Failure, Result};

/// What stands after the name of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    None,
    File,
    Folder,
    /// One of these.
    Words(&'static [&'static str]),
    /// MemQL.
    Expression,
    /// The name of a command.
    Command,
    /// A number, or one of its words.
    Number,
}

/// A command as the help shows it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The argument in words.
    usage: &'static str,
    pub(super) argument: Argument,
    group: &'static str,
    what: &'static str,
    example: &'static str,
}

const FORMATS: &[&str] =
    &["box", "csv", "dot", "json", "jsonl", "line", "markdown", "svg", "table"];

/// All commands, by group.
pub(super) const COMMANDS: &[Entry] = &[
    Entry {
        name: ".schema",
        usage: "",
        argument: Argument::None,
        group: "The database",
        what: "shows labels with their properties, and relations",
        example: ".schema",
    },
    Entry {
        name: ".relations",
        usage: "",
        argument: Argument::None,
        group: "The database",
        what: "shows what is defined of each relation",
        example: ".relations",
    },
    Entry {
        name: ".stats",
        usage: "",
        argument: Argument::None,
        group: "The database",
        what: "counts keys and bytes per column family",
        example: ".stats",
    },
    Entry {
        name: ".open",
        usage: "DB",
        argument: Argument::Folder,
        group: "The database",
        what: "opens another database, new or not, and then closes this one",
        example: ".open other.memory",
    },
    Entry {
        name: ".backup",
        usage: "DIR",
        argument: Argument::Folder,
        group: "The database",
        what: "copies the database as it stands to a new folder",
        example: ".backup my.backup",
    },
    Entry {
        name: ".read",
        usage: "FILE",
        argument: Argument::File,
        group: "Statements",
        what: "runs the statements and commands of a file",
        example: ".read facts.memql",
    },
    Entry {
        name: ".explain",
        usage: "QUERY",
        argument: Argument::Expression,
        group: "Statements",
        what: "shows how a query would run",
        example: ".explain MATCH (p:Person) RETURN p.key",
    },
    Entry {
        name: ".let",
        usage: "n = E",
        argument: Argument::Expression,
        group: "Statements",
        what: "lets $n stand for the value of an expression",
        example: ".let before = DATE '2025-06-14'",
    },
    Entry {
        name: ".params",
        usage: "",
        argument: Argument::None,
        group: "Statements",
        what: "shows what .let has given a value",
        example: ".params",
    },
    Entry {
        name: ".timer",
        usage: "on|off",
        argument: Argument::Words(&["off", "on"]),
        group: "Statements",
        what: "prints how long each input took, on stderr",
        example: ".timer on",
    },
    Entry {
        name: ".mode",
        usage: "FORM",
        argument: Argument::Words(FORMATS),
        group: "Answers",
        what: "prints answers as table, box, line, csv, json, jsonl, markdown, dot or svg",
        example: ".mode json",
    },
    Entry {
        name: ".output",
        usage: "[FILE]",
        argument: Argument::File,
        group: "Answers",
        what: "writes answers to a file, whole; without a file, back to here",
        example: ".output people.csv",
    },
    Entry {
        name: ".rows",
        usage: "N|all",
        argument: Argument::Number,
        group: "Answers",
        what: "shows so many rows of an answer at a terminal",
        example: ".rows all",
    },
    Entry {
        name: ".width",
        usage: "N|auto",
        argument: Argument::Number,
        group: "Answers",
        what: "makes tables so wide at a terminal; auto takes its width",
        example: ".width 120",
    },
    Entry {
        name: ".help",
        usage: "[NAME]",
        argument: Argument::Command,
        group: "The shell",
        what: "shows this, or one command",
        example: ".help .mode",
    },
    Entry {
        name: ".quit",
        usage: "",
        argument: Argument::None,
        group: "The shell",
        what: "leaves, as Ctrl-D does; Ctrl-C drops what was typed",
        example: ".quit",
    },
];

const HEAD: &str = "\
A statement may run over several lines and ends with a semicolon; Tab completes:
  REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14';
  MATCH (p:Person)-[f]->(x) RETURN p.key, f, x.key;
  BEGIN; ... COMMIT; or ROLLBACK;
";

/// What a line asks of the shell.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Schema,
    Relations,
    Stats,
    Open(PathBuf),
    Backup(PathBuf),
    Read(PathBuf),
    Explain(String),
    /// A name, and the expression for its value.
    Let(String, String),
    Params,
    Timer(bool),
    Mode(Format),
    /// A file, or the terminal.
    Output(Option<PathBuf>),
    /// The most rows, or all.
    Rows(Option<usize>),
    /// The width in columns, or the terminal's.
    Width(Option<u16>),
    /// The text of the help.
    Help(String),
    Quit,
}

/// Whether a whole input is for the shell itself. No statement begins with a point or is one of
/// these words alone.
pub(super) fn is_command(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('.') || matches!(text.trim_end_matches(';'), "exit" | "quit" | "help")
}

/// The entry of a command.
pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    COMMANDS.iter().find(|entry| entry.name == name)
}

/// Reads a line that [`is_command`].
pub(super) fn parse(line: &str) -> Result<Command> {
    let line = line.trim().trim_end_matches(';').trim_end();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let known = match name {
        "exit" | "quit" | ".exit" => ".quit",
        "help" => ".help",
        other => other,
    };
    let entry = entry(known).ok_or_else(|| unknown(name))?;
    if entry.argument == Argument::None && !rest.is_empty() {
        return Err(Failure::Other(format!("{name} takes nothing after it")));
    }
    entry.command(rest).ok_or_else(|| entry.misused(rest))
}

impl Entry {
    /// The command with its argument; none if that is not of its form.
    fn command(&self, rest: &str) -> Option<Command> {
        let path = || (!rest.is_empty()).then(|| PathBuf::from(rest));
        Some(match self.name {
            ".schema" => Command::Schema,
            ".relations" => Command::Relations,
            ".stats" => Command::Stats,
            ".open" => Command::Open(path()?),
            ".backup" => Command::Backup(path()?),
            ".read" => Command::Read(path()?),
            ".explain" => Command::Explain((!rest.is_empty()).then(|| rest.to_owned())?),
            ".let" => binding(rest)?,
            ".params" => Command::Params,
            ".timer" => Command::Timer(match rest {
                "on" => true,
                "off" => false,
                _ => return None,
            }),
            ".mode" => Command::Mode(Format::from_str(rest, true).ok()?),
            ".output" => Command::Output(path()),
            ".rows" if rest == "all" => Command::Rows(None),
            ".rows" => Command::Rows(Some(rest.parse().ok()?)),
            ".width" if rest == "auto" => Command::Width(None),
            ".width" => Command::Width(Some(rest.parse().ok().filter(|&width| width > 0)?)),
            ".help" => Command::Help(help(rest)?),
            _ => Command::Quit,
        })
    }

    fn misused(&self, rest: &str) -> Failure {
        let Self { name, usage, example, .. } = self;
        let mut message = format!("{name} needs {usage}, as in {example}");
        let words: &[&str] = match self.argument {
            Argument::Command => return unknown(&format!(".{}", rest.trim_start_matches('.'))),
            Argument::Words(words) => words,
            _ => &[],
        };
        match closest(rest, words.iter().copied()) {
            Some(near) => message.push_str(&format!("; did you mean {near}?")),
            None if words.is_empty() => {}
            None => message.push_str(&format!("; it is one of {}", words.join(", "))),
        }
        Failure::Other(message)
    }

    fn line(&self) -> String {
        format!("  {:<17} {}", format!("{} {}", self.name, self.usage), self.what)
    }
}

fn binding(text: &str) -> Option<Command> {
    let (name, expression) = text.split_once('=')?;
    let (name, expression) = (name.trim().trim_start_matches('$'), expression.trim());
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !expression.is_empty())
        .then(|| Command::Let(name.to_owned(), expression.to_owned()))
}

fn unknown(name: &str) -> Failure {
    let word = name.trim_start_matches('.');
    if statement_keywords().any(|keyword| keyword.eq_ignore_ascii_case(word)) {
        let (word, language) = (word.to_uppercase(), "docs/language.md shows it");
        return Failure::Other(format!("{word} begins a statement, and is no command; {language}"));
    }
    Failure::Other(match nearest(name) {
        Some(near) => format!("there is no command {name}; did you mean {near}?"),
        None => format!("there is no command {name}; .help lists them"),
    })
}

/// The command that was most likely meant: misspelled, or cut short.
fn nearest(name: &str) -> Option<&'static str> {
    let names = || COMMANDS.iter().map(|entry| entry.name);
    let mut longer = names().filter(|known| name.len() > 1 && known.starts_with(name));
    closest(name, names()).or_else(|| match (longer.next(), longer.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    })
}

/// The help for all commands, or for one; none if there is no such command.
fn help(name: &str) -> Option<String> {
    if !name.is_empty() {
        let dotted = format!(".{}", name.trim_start_matches('.'));
        let entry = entry(&dotted)?;
        let usage = format!("{} {}", entry.name, entry.usage);
        return Some(format!("{}  {}\n  {}", usage.trim_end(), entry.what, entry.example));
    }
    let mut text = HEAD.to_owned();
    let mut group = "";
    for entry in COMMANDS {
        if entry.group != group {
            group = entry.group;
            text.push_str(&format!("\n{group}\n"));
        }
        text.push_str(&entry.line());
        text.push('\n');
    }
    text.push_str("\n.help NAME shows an example, as .help mode.");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        match parse(line) {
            Err(Failure::Other(message)) => message,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_example_is_its_command() {
        for entry in COMMANDS {
            let command = parse(entry.example);
            assert!(command.is_ok(), "{}: {command:?}", entry.example);
            assert!(entry.example.starts_with(entry.name));
            assert!(matches!(parse(&format!(".help {}", entry.name)), Ok(Command::Help(_))));
        }
        for format in FORMATS {
            assert!(matches!(parse(&format!(".mode {format}")), Ok(Command::Mode(_))), "{format}");
        }
        assert_eq!(FORMATS.len(), Format::value_variants().len());
    }

    #[test]
    fn arguments_are_read() {
        assert_eq!(parse(" .rows 5;").ok(), Some(Command::Rows(Some(5))));
        assert_eq!(parse(".rows all").ok(), Some(Command::Rows(None)));
        assert_eq!(parse(".width auto").ok(), Some(Command::Width(None)));
        assert_eq!(parse(".output").ok(), Some(Command::Output(None)));
        assert_eq!(parse(".read a b").ok(), Some(Command::Read(PathBuf::from("a b"))));
        let bound = Command::Let("n".to_owned(), "1 = 2".to_owned());
        assert_eq!(parse(".let $n = 1 = 2;").ok(), Some(bound));
        assert_eq!(parse("exit;").ok(), Some(Command::Quit));
    }

    #[test]
    fn what_is_wrong_says_what_is_right() {
        assert_eq!(refused(".relation"), "there is no command .relation; did you mean .relations?");
        assert_eq!(refused(".sch"), "there is no command .sch; did you mean .schema?");
        assert_eq!(refused(".frobnicate"), "there is no command .frobnicate; .help lists them");
        assert_eq!(refused(".r"), "there is no command .r; .help lists them");
        assert_eq!(
            refused(".mode jsn"),
            "\
            .mode needs FORM, as in .mode json; did you mean json?"
        );
        assert_eq!(
            refused(".timer maybe"),
            ".timer needs on|off, as in .timer on; it is one of off, on"
        );
        assert_eq!(
            refused(".help recall"),
            "RECALL begins a statement, and is no command; docs/language.md shows it"
        );
        assert_eq!(refused(".rows"), ".rows needs N|all, as in .rows all");
        assert_eq!(refused(".width 0"), ".width needs N|auto, as in .width 120");
        assert_eq!(refused(".stats x"), ".stats takes nothing after it");
        assert_eq!(refused(".let x"), ".let needs n = E, as in .let before = DATE '2025-06-14'");
        assert_eq!(refused(".help mod"), "there is no command .mod; did you mean .mode?");
    }
}
