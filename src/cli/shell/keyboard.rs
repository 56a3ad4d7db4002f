//! A person's input: one buffer that is edited until a statement ends, with completion, colours
//! and a history that only its owner can read.
//!
//! If the history cannot be kept, the shell works without.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::rc::Rc;

use engraph::{Engraph, TokenKind, is_unfinished, tokens};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::command::{Argument, is_command};
use super::complete::{Names, complete, path_argument};
use super::highlight::highlight;
use super::names;
use crate::cli::output::wants_colour;
use crate::cli::{Failure, Result};

/// The most inputs that the history keeps.
const HISTORY_MAX: usize = 1000;

/// The most files that completion lists.
const FILES_MAX: usize = 1000;

/// A terminal with somebody at it.
pub(super) struct Keyboard {
    editor: Editor<Assistant, FileHistory>,
    history: Option<PathBuf>,
}

impl Keyboard {
    pub(super) fn new(db: &Rc<Engraph>) -> Result<Self> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .max_history_size(HISTORY_MAX)
            .map_err(unreadable)?
            .build();
        let mut editor = Editor::with_config(config).map_err(unreadable)?;
        editor.set_helper(Some(Assistant::new(Rc::clone(db))));
        let history = history_path();
        if let Some(path) = &history {
            // The first time there is no file yet.
            editor.load_history(path).unwrap_or_default();
        }
        Ok(Self { editor, history })
    }

    /// Completes with the names of another database from now on.
    pub(super) fn use_database(&mut self, db: &Rc<Engraph>) {
        self.editor.set_helper(Some(Assistant::new(Rc::clone(db))));
    }

    /// The next command or whole statements; nothing if the person leaves.
    pub(super) fn input(
        &mut self,
        in_transaction: bool,
        params: BTreeSet<String>,
    ) -> Result<Option<String>> {
        if let Some(assistant) = self.editor.helper_mut() {
            assistant.params = params;
            // What ran last may have brought new names.
            assistant.names.take();
        }
        let prompt = if in_transaction { "engraph*> " } else { "engraph> " };
        loop {
            match self.editor.readline(prompt) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    self.remember(text.trim_end());
                    return Ok(Some(text));
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(unreadable(error)),
            }
        }
    }

    /// Saved after every input, so that nothing is lost with the terminal.
    fn remember(&mut self, text: &str) {
        // A history that cannot be kept is not worth a word to somebody at work.
        let is_new = self.editor.add_history_entry(text).unwrap_or_default();
        if let Some(path) = self.history.as_ref().filter(|_| is_new) {
            self.editor.append_history(path).unwrap_or_default();
        }
    }
}

fn unreadable(error: ReadlineError) -> Failure {
    Failure::Other(format!("the terminal cannot be read: {error}"))
}

/// Where the history is, by the XDG rules; its folder is made. Rustyline makes the file itself
/// readable by its owner alone.
fn history_path() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let folder = state.join("engraph");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// What helps while somebody types.
struct Assistant {
    db: Rc<Engraph>,
    /// The names of the database, once somebody has asked for them.
    names: RefCell<Option<Names>>,
    params: BTreeSet<String>,
    colour: bool,
    /// The line will not change any more: the cursor does not matter.
    is_final: Cell<bool>,
}

impl Assistant {
    fn new(db: Rc<Engraph>) -> Self {
        let colour = wants_colour(std::io::stdout().is_terminal());
        let (names, params) = (RefCell::default(), BTreeSet::new());
        Self { db, names, params, colour, is_final: Cell::new(false) }
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        if let Some((start, argument)) = path_argument(line, position) {
            let typed = line.get(start..position).unwrap_or_default();
            return Ok((start, paths(typed, argument)));
        }
        let mut names = self.names.borrow_mut();
        let names = names
            .get_or_insert_with(|| Names { params: self.params.clone(), ..names::read(&self.db) });
        Ok(complete(line, position, names))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        Ok(match !is_command(text) && is_unfinished(text) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        match self.colour && !is_command(line) {
            true => Cow::Owned(highlight(line, (!self.is_final.get()).then_some(position))),
            false => Cow::Borrowed(line),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.is_final.set(kind == CmdKind::ForcedRefresh);
        self.colour
    }
}

impl Hinter for Assistant {
    type Hint = Note;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<Note> {
        (!is_command(line)).then(|| open_text(line)).flatten().map(Note)
    }
}

/// What to say of a text that goes on over the end of a line: as a rule an apostrophe began it.
fn open_text(text: &str) -> Option<&'static str> {
    let last =
        tokens(text).last().filter(|token| token.is_open && token.kind == TokenKind::Text)?;
    let last = text.get(last.range)?;
    last.contains('\n').then(|| match last.starts_with('"') {
        true => "  (a text goes on until \"; within it write \\\")",
        false => "  (a text goes on until '; within it write \\')",
    })
}

/// What is said beside the line, and never becomes a part of it.
struct Note(&'static str);

impl Hint for Note {
    fn display(&self) -> &str {
        self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Helper for Assistant {}

/// The paths that begin so, sorted; folders end in a separator.
fn paths(typed: &str, argument: Argument) -> Vec<String> {
    let (folder, start) = match typed.rfind(MAIN_SEPARATOR) {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let entries =
        std::fs::read_dir(if folder.is_empty() { Path::new(".") } else { folder.as_ref() });
    let mut found: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            let is_hidden = name.starts_with('.') && !start.starts_with('.');
            let fits = name.starts_with(start) && !is_hidden && !name.contains(char::is_control);
            let end = if is_folder { MAIN_SEPARATOR.to_string() } else { String::new() };
            (fits && (is_folder || argument == Argument::File))
                .then(|| format!("{folder}{name}{end}"))
        })
        .take(FILES_MAX)
        .collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_goes_on_is_told() {
        assert_eq!(open_text("RECALL 'Where's it?';"), None, "the line is not ended yet");
        let said = open_text("RECALL 'Where's it?';\n").expect("open");
        assert!(said.ends_with("until '; within it write \\')"), "{said}");
        assert!(open_text("RETURN \"a\n").is_some_and(|said| said.contains("until \"")));
        for text in ["RETURN 1\n", "RETURN 'a\nb'\n", "RETURN /* it's\n", "MATCH (`it's\n"] {
            assert_eq!(open_text(text), None, "{text}");
        }
    }

    #[test]
    fn paths_are_files_and_folders() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["facts.memql", "fa b", ".hidden"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        std::fs::create_dir(folder.path().join("fall")).expect("a folder");
        let base = format!("{}{MAIN_SEPARATOR}", folder.path().display());
        let under = |argument, start: &str| {
            let found = paths(&format!("{base}{start}"), argument).into_iter();
            found.map(|path| path.replace(&base, "")).collect::<Vec<_>>()
        };
        let fall = format!("fall{MAIN_SEPARATOR}");
        assert_eq!(under(Argument::File, "fa"), ["fa b", "facts.memql", &fall]);
        assert_eq!(under(Argument::Folder, ""), [fall]);
        assert_eq!(under(Argument::File, "").len(), 3);
        assert_eq!(under(Argument::File, ".h"), [".hidden"]);
        assert_eq!(under(Argument::File, "none/x"), [""; 0]);
    }
}
