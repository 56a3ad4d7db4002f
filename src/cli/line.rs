//! Answers with a line a value, for rows that are too wide for a table.
//!
//! Values are never shortened; what could act on a terminal is escaped.

use std::io::{Result, Write};

use engraph::Rows;

use super::table::{Cut, counted};
use super::visible::visible;

/// Prints the rows with a blank line between two.
pub(super) fn write(rows: &Rows, cut: Cut, out: &mut dyn Write) -> Result<()> {
    let names: Vec<_> = rows.columns.iter().map(|name| visible(name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    for row in rows.rows.iter().take(cut.rows.unwrap_or(usize::MAX)) {
        for (name, value) in names.iter().zip(row) {
            writeln!(out, "{name:>longest$} = {}", visible(&value.to_string()))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", counted(rows.len(), cut.rows))
}

#[cfg(test)]
mod tests {
    use engraph::Value;

    use super::*;

    #[test]
    fn a_line_a_value() {
        let row = |name: &str, age| vec![Value::from(name), Value::from(age)];
        let columns = ["p.name", "age"].map(str::to_owned).to_vec();
        let rows = vec![row("No\nra", 31), row(&"x".repeat(200), 4)];
        let rows = Rows { columns, rows, ..Rows::default() };
        let written = |cut| {
            let mut out = Vec::new();
            write(&rows, cut, &mut out).expect("memory takes it");
            String::from_utf8(out).expect("UTF-8")
        };
        let first = "p.name = No\\nra\n   age = 31\n\n";
        let second = format!("p.name = {}\n   age = 4\n\n", "x".repeat(200));
        let whole = Cut { width: Some(40), rows: None };
        assert_eq!(written(whole), format!("{first}{second}(2 rows)\n"));
        let hint = "(1 of 2 rows shown; .rows all shows all, .output FILE writes them)\n";
        assert_eq!(written(Cut { width: None, rows: Some(1) }), format!("{first}{hint}"));
    }
}
