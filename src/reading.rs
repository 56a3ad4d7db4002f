//! Whether a text only reads, so that it can run beside a writer. Nothing is bound or run here.

use engraph_grammar::ast::{self, QueryEnd, Statement, StatementKind};

use crate::error::{Error, Result};

/// Whether a statement only reads.
pub(crate) fn is_read(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Query(query) => reads(query),
        StatementKind::Explain(_)
        | StatementKind::Trace(_)
        | StatementKind::Show(_)
        | StatementKind::SessionSet(_) => true,
        _ => false,
    }
}

/// Whether a query only reads.
pub(crate) fn reads(query: &ast::Query) -> bool {
    !query.unions.is_empty() || matches!(query.pipeline.end, None | Some(QueryEnd::Return(_)))
}

/// Whether a script only reads, so that it can run beside a writer.
///
/// # Errors
///
/// [`Error::Syntax`] if the text is not MemQL.
pub fn only_reads(text: &str) -> Result<bool> {
    let statements = engraph_grammar::parse(text);
    let statements = statements.map_err(|error| Error::from(error).with_text(text))?;
    Ok(statements.iter().all(is_read))
}
