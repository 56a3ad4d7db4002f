//! All embeddings made anew, by the model that the database is open with.
//!
//! Every embedding, of now and of the past, is of a text that stands in its node's record. It is
//! replaced by the new model's and stands for the same time, so history looks as if that model had
//! always been there. The model runs outside of every lock; each batch is one commit, which says
//! how far it came, and the last one names the new model. The codes of the tokens of turns are made
//! with them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engraph_storage::graph::{Interval, NodeId, SystemScope};
use engraph_storage::{Reader, Stored, VectorMark};

use super::Engraph;
use crate::context::limits::Patience;
use crate::error::Result;
use crate::graph_names::TURN;
use crate::{text, time};

/// Embeddings that are made and stored together.
const BATCH: usize = if cfg!(test) { 3 } else { 512 };

impl Engraph {
    /// Makes the embeddings of all texts anew, those of now and those of the past, if another model
    /// than the embedder of this database made them, or if the tokens of turns lack what late
    /// interaction reads, as in a database of an older version. Calls `progress` with how many are done,
    /// of how many. Gives how many were made. To find that there is nothing to do, all turns are read.
    ///
    /// While it runs, and if it does not come to its end, searching by meaning and storing texts are
    /// errors; called again with the same embedder it goes on where it was.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use engraph::{FixedEmbedder, Options};
    /// # let folder = tempfile::tempdir()?;
    /// let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path())?;
    /// db.query("REMEMBER (:Note 'a' {text: 'Nora moved to Porto.'})", ())?;
    /// assert_eq!(db.reembed(&mut |_, _| {})?, 0); // by this model already
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Neural`](crate::Error::Neural) if there is no model or it fails, [`Error::Storage`](crate::Error::Storage) if the disk refuses.
    pub fn reembed(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64> {
        reembed(self, progress)
    }
}

fn reembed(db: &Engraph, progress: &mut dyn FnMut(u64, u64)) -> Result<u64> {
    let Some((mut done, total, mut mark)) = begin(db)? else { return Ok(0) };
    let mut made = 0;
    progress(done, total);
    loop {
        let batch = read(db.store.snapshot(time::wall()).reader(), mark.as_ref())?;
        let Some((last, _)) = batch.last() else { break };
        mark = Some(last.mark.clone());
        done += batch.len() as u64;
        made += store(db, batch)?;
        progress(done.min(total), total);
    }
    let mut transaction = Patience::of(db.limits()).begin(&db.store)?;
    transaction.finish_renewal()?;
    transaction.commit(db.durability(), time::wall())?;
    Ok(made)
}

/// How many embeddings are done, of how many, and the last of those; none if there is nothing to do.
/// From then on the database says that they are being made anew.
fn begin(db: &Engraph) -> Result<Option<(u64, u64, Option<VectorMark>)>> {
    let snapshot = db.store.snapshot(time::wall());
    let reader = snapshot.reader();
    let (renewal, former) = (reader.renewal()?, reader.former_model()?);
    if renewal.is_none() && former.is_none() {
        return Ok(None);
    }
    let embedder = db.models.embedder()?;
    let is_of_it = || -> Result<bool> {
        Ok(former.as_deref() == Some(embedder.id()) && has_all_codes(db, reader)?)
    };
    if renewal.is_none() && is_of_it()? {
        return Ok(None);
    }
    let mark = renewal.filter(|renewal| renewal.model == embedder.id());
    let mark = mark.and_then(|renewal| renewal.done);
    let (mut done, mut total) = (0, 0);
    reader.stored_vectors(None, &mut |stored| {
        total += 1;
        done += u64::from(mark.as_ref().is_some_and(|mark| stored.mark <= *mark));
        ControlFlow::Continue(())
    })?;
    drop(snapshot);
    let mut transaction = Patience::of(db.limits()).begin(&db.store)?;
    transaction.begin_renewal(embedder.id())?;
    transaction.commit(db.durability(), time::wall())?;
    Ok(Some((done, total, mark)))
}

/// Whether each turn has codes of its tokens that the embedder would make today, if it makes any.
fn has_all_codes(db: &Engraph, reader: Reader<'_>) -> Result<bool> {
    let Some(label) = reader.catalog().label(TURN) else { return Ok(true) };
    let turns = reader.all_of_label(label)?;
    if turns.is_empty() {
        return Ok(true);
    }
    let Some(width) = db.models.token_width()? else { return Ok(true) };
    let model = db.models.stamp(width)?;
    for node in turns {
        let Some(text) = text_at(reader, node, SystemScope::Current)? else { continue };
        let stamp = model ^ text::hash(&text);
        if reader.token_codes(label, node)?.is_none_or(|held| held.stamp != stamp) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The next embeddings with their texts; one that is of no text has none.
fn read(reader: Reader<'_>, after: Option<&VectorMark>) -> Result<Vec<(Stored, Option<String>)>> {
    let mut batch = Vec::with_capacity(BATCH);
    reader.stored_vectors(after, &mut |stored| {
        batch.push(stored);
        if batch.len() < BATCH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let with_text = |stored: Stored| {
        let text = text_of(reader, &stored)?;
        Ok((stored, text))
    };
    batch.into_iter().map(with_text).collect()
}

/// The text that an embedding is of: that of its node when it stood.
fn text_of(reader: Reader<'_>, stored: &Stored) -> Result<Option<String>> {
    let system = match stored.system.to {
        Interval::MAX => SystemScope::Current,
        // Since an upgrade of format 1 it may stand for longer than its text, but not until later.
        to => SystemScope::AsOf(to.saturating_sub(1)),
    };
    text_at(reader, stored.node, system)
}

/// What is embedded of a node.
fn text_at(reader: Reader<'_>, node: NodeId, system: SystemScope) -> Result<Option<String>> {
    let Some(record) = reader.node(node, system)? else { return Ok(None) };
    let named = |(name, value)| (reader.catalog().property_name(name).to_owned(), value);
    let properties: BTreeMap<_, _> = record.properties.clone().into_iter().map(named).collect();
    Ok(text::of_node(&properties))
}

/// Embeds the texts and stores what came out. Gives how many embeddings were made.
fn store(db: &Engraph, batch: Vec<(Stored, Option<String>)>) -> Result<u64> {
    let texts: Vec<&str> = batch.iter().filter_map(|(_, text)| text.as_deref()).collect();
    let mut coded = db.models.embed_with_codes(&texts)?.into_iter();
    let mut transaction = Patience::of(db.limits()).begin(&db.store)?;
    let turn = transaction.reader().catalog().label(TURN);
    let mut made = 0;
    for (stored, text) in &batch {
        let (vector, codes) = text.as_ref().and_then(|_| coded.next()).unzip();
        let is_stored = transaction.renew(stored, vector.as_deref())?;
        made += u64::from(is_stored && vector.is_some());
        // What a turn says now has codes; what it said does not.
        let is_turn = Some(stored.label) == turn && stored.system.to == Interval::MAX;
        if let (true, Some(codes)) = (is_stored && is_turn, codes.flatten()) {
            transaction.put_token_codes(stored.node, &codes)?;
        }
    }
    if let Some((last, _)) = batch.last() {
        transaction.renewed_to(&last.mark)?;
    }
    transaction.commit(db.durability(), time::wall())?;
    Ok(made)
}

#[cfg(test)]
mod tests;
