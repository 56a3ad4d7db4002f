//! Answers as tables, for a person.
//!
//! At a terminal a table is no wider than that: long cells end in `…`, columns that do not fit are
//! left out, and the last line says so. Everywhere else a table is whole.

use std::io::{Result, Write};

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, Row, Table,
    TableStyle, Width,
};
use engraph::{Rows, Value};

use super::visible::{lines_visible, visible};

/// What of an answer is shown; nothing is left out by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// The width in columns of a terminal.
    pub(super) width: Option<u16>,
    /// The most rows.
    pub(super) rows: Option<usize>,
}

/// Where a table has lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Between columns and under the header: it reads well and pastes well.
    Between,
    /// Around it as well.
    Around,
}

const BETWEEN: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction('│'))
    .header_separator(LineStyle::none().fill('─').junction('┼'))
    .content_lines(ContentLineStyle::none().junction('│'));

const AROUND: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('┌', '─', '┬', '┐'))
    .header_lines(ContentLineStyle::new('│', '│', '│'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .bottom_border(LineStyle::new('└', '─', '┴', '┘'));

/// No column is narrower than this if its cells are longer.
const COLUMN_MIN: usize = 8;

/// Prints a table and what it has of the rows. An answer that is one text of several lines, such as
/// the text of a recipe, is printed as it is.
pub(super) fn write(rows: &Rows, lines: Lines, cut: Cut, out: &mut dyn Write) -> Result<()> {
    if let Some(text) = only_text(rows) {
        writeln!(out, "{}", lines_visible(text.trim_end_matches('\n')))?;
        return writeln!(out, "{}", counted(rows.len(), None));
    }
    let fitted = fit(rows, lines, cut);
    writeln!(out, "{}", fitted.text)?;
    writeln!(out, "{}", counted(rows.len(), cut.rows))?;
    let cells = "cells that end in … are cut";
    let columns = match fitted.hidden {
        0 => String::new(),
        1 => "1 column is left out".to_owned(),
        count => format!("{count} columns are left out"),
    };
    match (fitted.is_cut, fitted.hidden) {
        (false, 0) => Ok(()),
        (true, 0) => writeln!(out, "({cells}; the form `line` shows all)"),
        (false, _) => writeln!(out, "({columns}; the form `line` shows all)"),
        (true, _) => writeln!(out, "({columns}, {cells}; the form `line` shows all)"),
    }
}

/// The text of an answer that is nothing else, if it has several lines.
fn only_text(rows: &Rows) -> Option<&str> {
    match rows.rows.as_slice() {
        [row] => match row.as_slice() {
            [Value::String(text)] => text.contains('\n').then_some(text),
            _ => None,
        },
        _ => None,
    }
}

/// A table alone.
pub(super) fn shown(rows: &Rows, lines: Lines, width: Option<u16>) -> String {
    fit(rows, lines, Cut { width, rows: None }).text
}

/// How many rows there are, and how many of them are shown.
pub(super) fn counted(count: usize, most: Option<usize>) -> String {
    match (count, most) {
        (_, Some(most)) if most < count => format!(
            "({} of {} rows shown; .rows all shows all, .output FILE writes them)",
            grouped(most),
            grouped(count)
        ),
        (1, _) => "(1 row)".to_owned(),
        _ => format!("({count} rows)"),
    }
}

/// A number with its thousands set apart.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A table as it is shown.
struct Fitted {
    text: String,
    /// Whether a cell lost its end.
    is_cut: bool,
    /// How many columns were left out.
    hidden: usize,
}

fn fit(rows: &Rows, lines: Lines, cut: Cut) -> Fitted {
    let most = cut.rows.unwrap_or(usize::MAX);
    let mut table = Table::new();
    table.load_style(if lines == Lines::Around { AROUND } else { BETWEEN });
    table.set_content_arrangement(ContentArrangement::Disabled);
    // No longer cell fits in any column, and the end of a huge one is not worth laying out.
    let longest = cut.width.map_or(usize::MAX, |width| usize::from(width) + 1);
    table.set_header(row(rows.columns.iter().map(|name| cell(name, longest)), cut));
    for values in rows.rows.iter().take(most) {
        table.add_row(row(values.iter().map(|value| cell(&value.to_string(), longest)), cut));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if is_numeric(rows, index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let (is_cut, hidden) = match cut.width {
        Some(width) => narrow(&mut table, usize::from(width), lines),
        None => (false, 0),
    };
    Fitted { text: table.trim_fmt(), is_cut, hidden }
}

fn row(cells: impl Iterator<Item = String>, cut: Cut) -> Row {
    let mut row = Row::from(cells.collect::<Vec<_>>());
    if cut.width.is_some() {
        row.max_height(1);
    }
    row
}

fn cell(text: &str, longest: usize) -> String {
    let text = visible(text);
    match text.char_indices().nth(longest) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.into_owned(),
    }
}

/// Makes a table no wider than given. Says whether a cell was cut, and how many columns were left
/// out.
fn narrow(table: &mut Table, width: usize, lines: Lines) -> (bool, usize) {
    let natural: Vec<usize> =
        table.column_max_content_widths().into_iter().map(usize::from).collect();
    let (kept, most) = widths(&natural, width, lines);
    // A cell is one word: it is cut where it must be, not before.
    table.set_delimiter('\u{0}').set_content_arrangement(ContentArrangement::Dynamic);
    for (index, column) in table.column_iter_mut().enumerate() {
        let content = natural.get(index).copied().unwrap_or_default().clamp(1, most.max(1));
        column.set_constraint(match index < kept {
            // The padding of a column is part of its width.
            true => {
                ColumnConstraint::Absolute(Width::Fixed(u16::try_from(content + 2).unwrap_or(80)))
            }
            false => ColumnConstraint::Hidden,
        });
    }
    (natural.iter().take(kept).any(|&column| column > most), natural.len() - kept)
}

/// How many columns are kept, and how wide their content may be at most.
fn widths(natural: &[usize], width: usize, lines: Lines) -> (usize, usize) {
    let mut kept = natural.len();
    loop {
        let frame = if lines == Lines::Around { 3 * kept + 1 } else { (3 * kept).max(1) - 1 };
        let columns = natural.get(..kept).unwrap_or_default();
        let most = level(columns, width.saturating_sub(frame));
        let needed = columns.iter().copied().max().unwrap_or_default().min(COLUMN_MIN);
        if kept <= 1 || most >= needed {
            return (kept, most);
        }
        kept -= 1;
    }
}

/// The most that each may have so that together they have no more than `sum`.
fn level(columns: &[usize], sum: usize) -> usize {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    let mut left = sum;
    for (index, &column) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if column > share {
            return share;
        }
        left -= column;
    }
    sorted.last().copied().unwrap_or_default()
}

/// Whether a column holds nothing but numbers.
pub(super) fn is_numeric(rows: &Rows, column: usize) -> bool {
    let is_number =
        |row: &Vec<Value>| matches!(row.get(column), Some(Value::Int(_) | Value::Float(_)));
    !rows.is_empty() && rows.rows.iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&str], rows: Vec<Vec<Value>>) -> Rows {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Rows { columns, rows, ..Rows::default() }
    }

    fn written(rows: &Rows, lines: Lines, cut: Cut) -> String {
        let mut out = Vec::new();
        write(rows, lines, cut, &mut out).expect("memory takes it");
        String::from_utf8(out).expect("UTF-8")
    }

    fn at_width(width: u16) -> Cut {
        Cut { width: Some(width), rows: None }
    }

    #[test]
    fn a_box_has_lines_around() {
        let rows = rows(&["who", "age"], vec![vec!["Nora".into(), 31.into()]]);
        let expected = "\
┌──────┬─────┐
│ who  │ age │
├──────┼─────┤
│ Nora │  31 │
└──────┴─────┘
(1 row)
";
        assert_eq!(written(&rows, Lines::Around, Cut::default()), expected);
        assert_eq!(written(&rows, Lines::Around, at_width(80)), expected);
        assert_eq!(written(&rows, Lines::Around, at_width(14)), expected);
    }

    #[test]
    fn long_cells_are_cut_at_a_terminal_and_nowhere_else() {
        let long = "a rather long text, 日本 and so on";
        let rows = rows(&["n", "text"], vec![vec![1.into(), long.into()]]);
        assert!(written(&rows, Lines::Between, Cut::default()).contains(long));
        let expected = "
 n │ text
───┼────────────────
 1 │ a rather long…
(1 row)
(cells that end in … are cut; the form `line` shows all)
";
        assert_eq!(written(&rows, Lines::Between, at_width(20)), expected[1..]);
        let wide = vec![vec![Value::from("日本".repeat(50))]];
        let wide = self::rows(&["text"], wide);
        for width in 6..30 {
            let shown = written(&wide, Lines::Around, at_width(width));
            assert!(shown.contains('…'), "{shown}");
            let border = shown.lines().next().expect("a border").chars().count();
            assert!(border <= usize::from(width), "{shown}");
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out() {
        let names: Vec<String> = (0..30).map(|n| format!("column_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rows = rows(&names, vec![vec!["a value of some length".into(); 30]]);
        for lines in [Lines::Between, Lines::Around] {
            let shown = written(&rows, lines, at_width(60));
            assert!(shown.lines().take(3).all(|line| line.chars().count() <= 60), "{shown}");
            assert!(shown.contains("column_0 "), "{shown}");
            let hint = "columns are left out, cells that end in … are cut; the form `line`";
            assert!(shown.contains(hint), "{shown}");
        }
        for width in [1, 2, 5] {
            written(&rows, Lines::Around, at_width(width));
        }
    }

    #[test]
    fn many_rows_are_cut_with_a_hint() {
        let rows = rows(&["n"], (0..2345).map(|n| vec![n.into()]).collect());
        let shown = written(&rows, Lines::Between, Cut { width: None, rows: Some(100) });
        assert_eq!(shown.lines().count(), 103);
        let hint = "(100 of 2,345 rows shown; .rows all shows all, .output FILE writes them)\n";
        assert!(shown.ends_with(hint), "{shown}");
        assert!(written(&rows, Lines::Between, Cut::default()).ends_with("(2345 rows)\n"));
    }

    #[test]
    fn an_answer_that_is_one_text_is_printed_line_by_line() {
        let text = |text: &str| rows(&["text"], vec![vec![text.into()]]);
        let shown = written(&text("a recipe\n  of\u{1b} lines\n"), Lines::Around, at_width(5));
        assert_eq!(shown, "a recipe\n  of\\u{1b} lines\n(1 row)\n");
        assert!(written(&text("a line"), Lines::Around, Cut::default()).contains("│ a line │"));
        let two = rows(&["text", "n"], vec![vec!["a\nb".into(), 1.into()]]);
        assert!(written(&two, Lines::Around, Cut::default()).contains("a\\nb"));
    }

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn width_is_shared_fairly() {
        assert_eq!(level(&[2, 3], 10), 3);
        assert_eq!(level(&[2, 30, 40], 22), 10);
        assert_eq!(level(&[], 5), 0);
    }
}
