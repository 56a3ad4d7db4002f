//! `CALL name(...) YIELD ...`.

use engraph_grammar::ast;
use engraph_grammar::closest;

use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::plan::LogicalPlan;
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::procedure::{Procedure, Signature};

impl Binder<'_> {
    pub(super) fn call_procedure(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::ProcedureCall,
    ) -> Result<LogicalPlan> {
        let name = &clause.procedure;
        let Some(signature) =
            Procedure::TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(&name.text))
        else {
            return Err(unknown_procedure(name));
        };
        let arguments = self.procedure_arguments(clause, signature)?;
        let scope = Box::new(self.scope_of(&ast::Times::default())?);
        let mut slots = vec![None; signature.columns.len()];
        let all: Vec<(ast::Name, ast::Name)> = signature
            .columns
            .iter()
            .map(|column| ast::Name { text: (*column).to_owned(), span: clause.span })
            .map(|column| (column.clone(), column))
            .collect();
        let yields = if clause.yields.is_empty() { &all } else { &clause.yields };
        for (column, shown) in yields {
            let Some(place) = signature.columns.iter().position(|own| *own == column.text) else {
                let message = format!("{} has no column `{}`", signature.name, column.text);
                return Err(Diagnostic::at(column.span, message)
                    .help(format!("it has {}", signature.columns.join(", ")))
                    .bind());
            };
            if slots[place].is_some() {
                let message = format!("the column `{}` is yielded twice", column.text);
                return Err(Diagnostic::at(column.span, message)
                    .help("give it a second name with LET, after YIELD")
                    .bind());
            }
            let kind = match signature.columns[place] {
                "node" => Kind::Node,
                "path" => Kind::Path,
                _ => Kind::Value,
            };
            slots[place] = Some(self.fresh(shown, kind)?);
        }
        let procedure = signature.procedure;
        let plan = LogicalPlan::Call { input: Box::new(plan), procedure, arguments, scope, slots };
        match &clause.condition {
            Some(condition) => {
                let condition = self.expr(condition, Place::Row)?;
                Ok(LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false })
            }
            None => Ok(plan),
        }
    }

    /// The nodes that a procedure begins with, then a map of its options.
    fn procedure_arguments(
        &mut self,
        clause: &ast::ProcedureCall,
        signature: &Signature,
    ) -> Result<Vec<Expr>> {
        let given = clause.arguments.len();
        if given < signature.nodes || given > signature.nodes + 1 {
            let message = format!("{} is called in another way", signature.name);
            return Err(Diagnostic::at(clause.span, message)
                .help(format!("write {}", signature.usage))
                .bind());
        }
        let bound = clause.arguments.iter().map(|argument| self.expr(argument, Place::Row));
        let bound: Vec<Expr> = bound.collect::<Result<_>>()?;
        let options = bound.get(signature.nodes);
        if let Some(Expr { kind: ExprKind::Map(entries), span }) = options {
            signature.check_options(entries.iter().map(|entry| entry.0.as_str()), *span)?;
            entries.iter().for_each(|(option, value)| self.warn_if_unknown(option, value));
        }
        Ok(bound)
    }

    /// Warns of a label, a relation or a property of facts that an option names and nothing has.
    fn warn_if_unknown(&mut self, option: &str, value: &Expr) {
        match &value.kind {
            ExprKind::List(items) => {
                items.iter().for_each(|item| self.warn_if_unknown(option, item));
            }
            ExprKind::Constant(Cell::String(text)) => {
                let name = ast::Name { text: text.to_string(), span: value.span };
                match option {
                    "labels" => _ = self.labels(&[name]),
                    "relations" => _ = self.relations(&[name]),
                    "weight" => self.warn_if_no_property(&name, Kind::Fact),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn unknown_procedure(name: &ast::Name) -> crate::Error {
    let known = || Procedure::TABLE.iter().map(|row| row.name);
    let error = Diagnostic::at(name.span, format!("there is no procedure `{}`", name.text));
    let list = match name.text.to_ascii_lowercase().as_str() {
        "db.labels" | "db.relationshiptypes" | "db.propertykeys" | "db.schema" => {
            Some("write SHOW LABELS, SHOW RELATIONS or SHOW SCHEMA".to_owned())
        }
        _ => None,
    };
    let nearest = closest(&name.text, known()).map(|known| format!("did you mean {known}?"));
    let all = || format!("the procedures are {}", known().collect::<Vec<_>>().join(", "));
    error.help(list.or(nearest).unwrap_or_else(all)).bind()
}
