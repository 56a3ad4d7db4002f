//! What may be asked on the command line, and its help.
//!
//! Scripts depend on these names: they are never renamed.

mod bench;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Parser, Subcommand, ValueEnum};

pub(super) use bench::{BENCH_EXAMPLES, Bench, BenchKind, BenchVectors, BenchWorkload, Phase};
use engraph::{FORMAT, Value};

/// A graph database for the long-term memory of agents.
#[derive(Debug, Parser)]
#[command(name = "engraph", version = VERSION.as_str(), after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The version, and the format of databases that it reads and writes.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (format {FORMAT})", env!("CARGO_PKG_VERSION")));

const EXAMPLES: &str = "\
Examples:
  engraph shell my.memory
  engraph query my.memory -e \"MATCH (p:Person)-[f]->(x) RETURN p.key, f, x.key\"
  engraph query my.memory -f question.memql --param who=Nora --format json
  engraph import my.memory turns chat.jsonl
  engraph export my.memory all.jsonl
  engraph check my.memory

Exit codes: 0 success, 1 the query or check failed, 2 bad usage.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Asks and tells, line by line; creates the database if there is none
    #[command(after_help = SHELL_EXAMPLES)]
    Shell(Shell),
    /// Runs a MemQL script and prints the answers
    #[command(after_help = QUERY_EXAMPLES)]
    Query(Query),
    /// Stores what a file holds; creates the database if there is none
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(Import),
    /// Writes everything to a file that import reads; loses nothing
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Verifies every invariant across the column families; exits with 1 on damage
    #[command(after_help = "Example:\n  engraph check my.memory --format json")]
    Check(Check),
    /// Copies the database as it stands, beside a writer or not
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(Backup),
    /// Copies a backup to where there is no database
    #[command(after_help = "Example:\n  engraph restore my.backup my.memory")]
    Restore(Restore),
    /// Brings a database of an older format to this one, in place
    #[command(after_help = UPGRADE_EXAMPLES)]
    Upgrade(Upgrade),
    /// Opens a database whose log is damaged, and drops what stands after the damage
    #[command(after_help = RECOVER_EXAMPLES)]
    Recover(Recover),
    /// Makes the embeddings of all texts anew, by the model that is installed
    #[command(after_help = EMBED_EXAMPLES)]
    Embed(Embed),
    /// Counts keys and bytes per column family
    #[command(after_help = STATS_EXAMPLES)]
    Stats(Stats),
    /// Measures recipes on questions with known evidence
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(Eval),
    /// Measures how fast the database is, on work whose answers are known
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Bench),
}

const SHELL_EXAMPLES: &str = "\
At a terminal, .help lists what the shell itself can do. From a pipe it runs what it reads and ends
at the first error, with exit code 1, as it does where the input ends within a transaction.

Examples:
  engraph shell my.memory
  engraph shell my.memory < facts.memql";

/// `engraph shell`.
#[derive(Debug, clap::Args)]
pub(super) struct Shell {
    /// The folder of the database
    pub(super) db: PathBuf,
    /// How long a statement may take; 30 unless said
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<u32>,
}

const QUERY_EXAMPLES: &str = "\
A script that only reads runs beside a writer. With several statements, table, box and line print
each answer, and the other formats print the answer of the last statement alone.

Examples:
  engraph query my.memory -e \"MATCH (p:Person) RETURN p.key\"
  engraph query my.memory -f facts.memql
  echo 'MATCH (a)-[f]->(b) RETURN f' | engraph query my.memory --format svg > facts.svg
  engraph query my.memory -e 'MATCH (p {key: $who}) RETURN p.age' --param who=Nora --format json";

/// `engraph query`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("text"))]
pub(super) struct Query {
    /// The folder of the database; a script that writes makes it if it is not there
    pub(super) db: PathBuf,
    /// The script itself, as with -e
    #[arg(value_name = "MEMQL", group = "text")]
    pub(super) argument: Option<String>,
    /// The script itself; without any it is read from stdin
    // A script may begin with a comment, and that with a hyphen.
    #[arg(short = 'e', long = "execute", value_name = "MEMQL", group = "text")]
    #[arg(allow_hyphen_values = true)]
    pub(super) script: Option<String>,
    /// The file of the script; - is stdin
    #[arg(short, long, value_name = "FILE", group = "text")]
    pub(super) file: Option<PathBuf>,
    /// The value of a $name: JSON where it is JSON, else the text itself; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = param)]
    pub(super) params: Vec<(String, Value)>,
    /// How long a statement may take; 30 unless said
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<u32>,
    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For a person
    Table,
    /// A table with lines around it
    Box,
    /// A line a value
    Line,
    /// One JSON array of row objects
    Json,
    /// One JSON object a line
    Jsonl,
    /// RFC 4180 with a header; nested values as JSON
    Csv,
    /// A table in GitHub Flavored Markdown
    Markdown,
    /// The nodes and facts of all rows as a Graphviz graph
    Dot,
    /// The nodes and facts of all rows as a picture, with a time axis
    Svg,
}

const IMPORT_EXAMPLES: &str = "\
Lines that cannot be stored are named on stderr and the others are stored; exit code 1 only if none
could be. The file of `engraph export` goes by jsonl, into a database that is not there yet, and is
imported whole or not at all. A file `-` is the input.

Examples:
  engraph import my.memory jsonl facts.jsonl
  engraph import copy.memory jsonl all.jsonl
  engraph import my.memory turns chat.jsonl
  engraph import my.memory messages chat.json
  engraph import my.memory locomo locomo10.json --sample conv-26
  engraph import my.memory csv facts.tsv --delimiter tab --columns head,relation,tail,valid_from";

/// `engraph import`.
#[derive(Debug, clap::Args)]
#[command(subcommand_value_name = "KIND", subcommand_help_heading = "Kinds of file")]
#[command(disable_help_subcommand = true)]
pub(super) struct Import {
    /// The folder of the database
    pub(super) db: PathBuf,
    #[command(subcommand)]
    pub(super) kind: Kind,
}

/// What kind of file is imported.
#[derive(Debug, Subcommand)]
pub(super) enum Kind {
    /// Facts, one JSON object a line; or what export wrote
    Jsonl {
        /// The file
        file: PathBuf,
    },
    /// Turns of conversations, one JSON object a line
    Turns {
        /// The file
        file: PathBuf,
    },
    /// Lists of messages of a chat model: a JSON document, or a list a line
    Messages {
        /// The file
        file: PathBuf,
    },
    /// Conversations of the LoCoMo benchmark
    Locomo {
        /// The file
        file: PathBuf,
        /// Only the conversation with this id
        #[arg(long, value_name = "ID")]
        sample: Option<String>,
        /// The observations that the data set ships as well: statements that a language model wrote
        #[arg(long)]
        observations: bool,
    },
    /// A table of facts with columns such as head, relation, tail, valid_from, valid_to
    Csv(Csv),
}

/// `engraph import <db> csv`.
#[derive(Debug, clap::Args)]
pub(super) struct Csv {
    /// The file
    pub(super) file: PathBuf,
    /// What stands between columns: a character, \t or tab
    #[arg(long, value_name = "C", default_value = ",", value_parser = delimiter)]
    pub(super) delimiter: u8,
    /// Names of the columns, for a file without a header
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    /// The label of heads
    #[arg(long, value_name = "LABEL", default_value = "Entity", value_parser = NonEmptyStringValueParser::new())]
    pub(super) head_label: String,
    /// The label of tails
    #[arg(long, value_name = "LABEL", default_value = "Entity", value_parser = NonEmptyStringValueParser::new())]
    pub(super) tail_label: String,
    /// A table of name and id, for heads and tails that are ids
    #[arg(long, value_name = "FILE")]
    pub(super) names: Option<PathBuf>,
    /// A table of name and id, for relations that are ids
    #[arg(long, value_name = "FILE")]
    pub(super) relation_names: Option<PathBuf>,
    /// A fact still holds on the day, month or year that valid_to names
    #[arg(long)]
    pub(super) inclusive_ends: bool,
}

const EXPORT_EXAMPLES: &str = "\
Nodes, facts with all their versions, rules and embeddings, one JSON object a line: the state as it
stands, beside a writer or not. The same state gives the same file.

Examples:
  engraph export my.memory all.jsonl
  engraph export my.memory - | gzip > all.jsonl.gz
  engraph import copy.memory jsonl all.jsonl";

/// `engraph export`.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// The folder of the database
    pub(super) db: PathBuf,
    /// The file; - is stdout
    pub(super) file: PathBuf,
    /// Replaces the file if it is there already
    #[arg(long)]
    pub(super) force: bool,
}

/// `engraph check`.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// The folder of the database
    pub(super) db: PathBuf,
    /// How it is printed; json leaves out what is well
    #[arg(long, value_enum, default_value_t = JsonOrText::Text)]
    pub(super) format: JsonOrText,
}

/// How violations are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum JsonOrText {
    /// One a line
    Text,
    /// One JSON array of row objects
    Json,
}

const BACKUP_EXAMPLES: &str = "\
The copy is checked, and is a database itself: it can be queried where it is.

Examples:
  engraph backup my.memory my.backup
  engraph query my.backup -e \"MATCH (p:Person) RETURN p.key\"
  engraph restore my.backup my.memory";

/// `engraph backup`.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// The folder of the database
    pub(super) db: PathBuf,
    /// The folder of the backup, which must not be there yet
    pub(super) dir: PathBuf,
}

/// `engraph restore`.
#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The folder of the backup
    pub(super) dir: PathBuf,
    /// The folder of the database, which must not be there yet
    pub(super) db: PathBuf,
}

const UPGRADE_EXAMPLES: &str = "\
An upgrade that was interrupted goes on where it stopped. Versions before cannot read the database
any more; copy the folder first if you may want to go back.

Example:
  engraph upgrade my.memory";

/// `engraph upgrade`.
#[derive(Debug, clap::Args)]
pub(super) struct Upgrade {
    /// The folder of the database
    pub(super) db: PathBuf,
}

const RECOVER_EXAMPLES: &str = "\
It is for a database that opening refuses because its log is damaged before acknowledged commits:
these are lost. If there is a backup, restore that; copy the folder first in any case.

Example:
  engraph recover my.memory";

/// `engraph recover`.
#[derive(Debug, clap::Args)]
pub(super) struct Recover {
    /// The folder of the database
    pub(super) db: PathBuf,
}

const EMBED_EXAMPLES: &str = "\
Needed once the model has changed: embeddings of two models cannot be compared. It also makes what a
database of an older version lacks of the tokens of its turns. What was not finished
goes on when it is run again; until then searching by meaning and storing texts are errors.

Example:
  ENGRAPH_MODEL_DIR=~/models/other engraph embed my.memory";

/// `engraph embed`.
#[derive(Debug, clap::Args)]
pub(super) struct Embed {
    /// The folder of the database
    pub(super) db: PathBuf,
}

/// `engraph stats`.
#[derive(Debug, clap::Args)]
pub(super) struct Stats {
    /// The folder of the database
    pub(super) db: PathBuf,
    /// How it is printed; json leaves the total to the reader
    #[arg(long, value_enum, default_value_t = StatsFormat::Table, conflicts_with_all = ["html", "svg"])]
    pub(super) format: StatsFormat,
    /// Writes a page that shows the memory by its layers, with a slider of valid time
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Writes the picture of that page alone
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
}

const STATS_EXAMPLES: &str = "\
Examples:
  engraph stats my.memory --format json
  engraph stats my.memory --html memory.html";

/// How statistics are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StatsFormat {
    /// For a person
    Table,
    /// One JSON array of row objects
    Json,
}

const EVAL_EXAMPLES: &str = "\
Every question of the file is asked of every recipe, and what it finds is compared with the turns that
the file names as evidence. Stores are made in a temporary folder, or in --keep, where they are found
again. The figures are printed as tables; nothing of them but the times differs from run to run.

Examples:
  engraph eval locomo locomo10.json
  engraph eval locomo locomo10.json --strategy hybrid --strategy gam --out runs
  engraph eval locomo locomo10.json --strategy gam --set boost_time=1.0 --sample conv-26
  engraph eval locomo locomo10.json --strategy scg_mem --ablate --keep stores
  engraph eval locomo locomo10.json --pooled --markdown figures.md";

/// `engraph eval`.
#[derive(Debug, clap::Args)]
#[command(subcommand_value_name = "KIND", subcommand_help_heading = "Kinds of file")]
#[command(disable_help_subcommand = true)]
pub(super) struct Eval {
    #[command(subcommand)]
    pub(super) kind: EvalKind,
}

/// What kind of file the questions are in.
#[derive(Debug, Subcommand)]
pub(super) enum EvalKind {
    /// Conversations of the LoCoMo benchmark, or of its form
    #[command(after_help = EVAL_EXAMPLES)]
    Locomo(EvalLocomo),
}

/// `engraph eval locomo`.
#[derive(Debug, clap::Args)]
pub(super) struct EvalLocomo {
    /// The file
    pub(super) file: PathBuf,
    /// A recipe; may be repeated; without it, or with all, every one that is built in
    #[arg(long = "strategy", visible_alias = "recipe", value_name = "NAME")]
    pub(super) recipes: Vec<String>,
    /// The most turns that a question finds
    #[arg(long = "top", visible_alias = "k", value_name = "K", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) top: u16,
    /// Only the conversation with this id; may be repeated
    #[arg(long = "sample", value_name = "ID")]
    pub(super) samples: Vec<String>,
    /// The value of a recipe's parameter, as JSON or else as text; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = param)]
    pub(super) set: Vec<(String, Value)>,
    /// Each recipe also without each of its switches; some also of memories that are made without a
    /// mechanism, in stores of their own
    #[arg(long)]
    pub(super) ablate: bool,
    /// Trains the query adapter and what the signals of the recipe engraph count, on all
    /// conversations but one for each one, and on all; with --ablate also without each family of
    /// signals
    #[arg(long)]
    pub(super) cross_validate: bool,
    /// Conversations of the same form that the query adapter learns from first; they are not tested
    #[arg(long, value_name = "FILE", requires = "cross_validate")]
    pub(super) lessons: Option<PathBuf>,
    /// Where the weights trained on all conversations go
    #[arg(long, value_name = "FILE", requires = "cross_validate")]
    pub(super) weights: Option<PathBuf>,
    /// Where the query adapter trained on all conversations goes
    #[arg(long, value_name = "FILE", requires = "cross_validate")]
    pub(super) adapter: Option<PathBuf>,
    /// A MemQL script that each store is given, such as recipes of your own; may be repeated
    #[arg(long = "define", value_name = "FILE")]
    pub(super) define: Vec<PathBuf>,
    /// All conversations in one store as well, asked by conversation and without saying which
    #[arg(long)]
    pub(super) pooled: bool,
    /// So many copies of each conversation are in that store
    #[arg(long, value_name = "N", default_value_t = 1, requires = "pooled")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) copies: u16,
    /// The observations that the data set ships as well: statements that a language model wrote
    #[arg(long)]
    pub(super) observations: bool,
    /// Where the run files go, one a recipe; a name that ends in .jsonl is the file of the only one
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// The tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub(super) markdown: Option<PathBuf>,
    /// The folder of the stores, which stay there
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("\\t" | "tab", _) => Ok(b'\t'),
        (_, [byte]) => Ok(*byte),
        _ => Err("a delimiter is one ASCII character, \\t or tab".to_owned()),
    }
}

fn param(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some(("", _)) | None => Err("write it as name=value".to_owned()),
        Some((name, value)) => {
            let name = name.strip_prefix('$').unwrap_or(name);
            Ok((name.to_owned(), param_value(value)?))
        }
    }
}

fn param_value(text: &str) -> Result<Value, String> {
    let is_whole = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    let is_endless = text.parse().is_ok_and(|number: f64| number.is_infinite());
    match serde_json::from_str(text) {
        Ok(Value::Float(_)) if is_whole => Err("the number has more than 64 bits".to_owned()),
        Err(_) if is_endless && text.contains(|c: char| c.is_ascii_digit()) => {
            Err("the number is too large".to_owned())
        }
        Ok(value) => Ok(value),
        Err(error) if error.is_data() => Err(error.to_string()),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests;
