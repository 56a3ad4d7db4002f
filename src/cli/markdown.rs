//! Answers as tables of GitHub Flavored Markdown (spec 0.29, section 4.10).
//!
//! A text shows as it is: what Markdown or HTML would read in it is escaped.

use std::io::{Result, Write};

use engraph::Rows;

use super::table::is_numeric;
use super::visible::visible;

/// Prints the rows; numbers stand to the right. An answer without columns has no table.
pub(super) fn write(rows: &Rows, out: &mut dyn Write) -> Result<()> {
    if rows.columns.is_empty() {
        return Ok(());
    }
    line(rows.columns.iter().map(|name| escaped(name)), out)?;
    let rule = |index| if is_numeric(rows, index) { "---:" } else { "---" };
    line((0..rows.columns.len()).map(|index| rule(index).to_owned()), out)?;
    for row in &rows.rows {
        line(row.iter().map(|value| escaped(&value.to_string())), out)?;
    }
    Ok(())
}

fn line(cells: impl Iterator<Item = String>, out: &mut dyn Write) -> Result<()> {
    for cell in cells {
        write!(out, "| {cell} ")?;
    }
    writeln!(out, "|")
}

fn escaped(text: &str) -> String {
    let text = visible(text);
    let mut out = String::new();
    for (at, character) in text.char_indices() {
        // "http://a.b" and "www.a.b" would become links by themselves; an address of mail does, and fetches nothing.
        let is_address = match character {
            ':' => text[at..].starts_with("://"),
            '.' => text.as_bytes()[at.saturating_sub(3)..at].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        let is_marked = matches!(character, '\\' | '|' | '`' | '*' | '_' | '<' | '&' | '~' | '[');
        if is_marked || is_address {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use engraph::Value;

    use super::*;

    #[test]
    fn a_markdown_table() {
        let columns = ["who|what", "age"].map(str::to_owned).to_vec();
        let row = |text: &str, age| vec![Value::from(text), Value::from(age)];
        let rows = vec![row("*a* <b> `c`\nd", 31), row("plain (:City)", 4)];
        let mut out = Vec::new();
        write(&Rows { columns, rows, ..Rows::default() }, &mut out).expect("memory takes it");
        let expected = "\
| who\\|what | age |
| --- | ---: |
| \\*a\\* \\<b> \\`c\\`\\\\nd | 31 |
| plain (:City) | 4 |
";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
        assert_eq!(escaped("![x](http://a.b/p)"), "!\\[x](http\\://a.b/p)");
        assert_eq!(escaped("[a](b), WWW.a.b"), "\\[a](b), WWW\\.a.b");
        assert_eq!(escaped("at 12:30."), "at 12:30.");
        let mut out = Vec::new();
        write(&Rows::default(), &mut out).expect("memory takes it");
        assert!(out.is_empty());
    }
}
