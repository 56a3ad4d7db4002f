//! Writes that are not committed yet, in key order, so that a transaction reads its own writes.
//!
//! It never touches the disk: committing is the engine's work, dropping is a rollback.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::error::Result;
use crate::families::Family;

/// Keys set (`Some`) and deleted (`None`).
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    changes: BTreeMap<Place, Change>,
    /// What was there of each key that was changed, for each savepoint; none without one.
    undo: Vec<BTreeMap<Place, Option<Change>>>,
}

/// A key of a family.
type Place = (Family, Vec<u8>);

/// The value that a key is set to; none if it is deleted.
type Change = Option<Vec<u8>>;

impl Overlay {
    pub(crate) fn put(&mut self, family: Family, key: impl Into<Vec<u8>>, value: Vec<u8>) {
        self.change((family, key.into()), Some(value));
    }

    pub(crate) fn delete(&mut self, family: Family, key: impl Into<Vec<u8>>) {
        self.change((family, key.into()), None);
    }

    fn change(&mut self, key: Place, change: Change) {
        let Some(undo) = self.undo.last_mut() else {
            self.changes.insert(key, change);
            return;
        };
        let replaced = self.changes.insert(key.clone(), change);
        undo.entry(key).or_insert(replaced);
    }

    /// From here on, changes can be taken back, by themselves or with those of a savepoint before.
    pub(crate) fn savepoint(&mut self) {
        self.undo.push(BTreeMap::new());
    }

    /// What was changed since the last savepoint stays, as long as what was before it does.
    pub(crate) fn release(&mut self) {
        let changed = self.undo.pop();
        if let (Some(changed), Some(outer)) = (changed, self.undo.last_mut()) {
            for (key, replaced) in changed {
                outer.entry(key).or_insert(replaced);
            }
        }
    }

    /// Takes back every change since the last savepoint.
    pub(crate) fn rollback(&mut self) {
        for (key, replaced) in self.undo.pop().into_iter().flatten() {
            match replaced {
                Some(change) => drop(self.changes.insert(key, change)),
                None => drop(self.changes.remove(&key)),
            }
        }
    }

    /// Passes every key that is set, with its value, through `change`.
    pub(crate) fn rewrite(
        &mut self,
        mut change: impl FnMut(Family, &mut Vec<u8>, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.undo.clear();
        for ((family, mut key), value) in std::mem::take(&mut self.changes) {
            let value = match value {
                Some(mut value) => {
                    change(family, &mut key, &mut value)?;
                    Some(value)
                }
                None => None,
            };
            self.changes.insert((family, key), value);
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Family, &[u8], Option<&[u8]>)> {
        self.changes
            .iter()
            .map(|((family, key), value)| (*family, key.as_slice(), value.as_deref()))
    }

    /// The keys of a family that it sets or deletes, in order.
    pub(crate) fn keys(&self, family: Family) -> impl Iterator<Item = &[u8]> {
        self.range(family, &[], None).map(|(key, _)| key)
    }

    /// What the overlay says of a key; none if it says nothing.
    pub(crate) fn get(&self, family: Family, key: &[u8]) -> Option<Option<&[u8]>> {
        self.changes.get(&(family, key.to_vec())).map(Option::as_deref)
    }

    /// The last key of a family that is set.
    pub(crate) fn last_key(&self, family: Family) -> Option<&[u8]> {
        let next = Family::ALL.into_iter().filter(|other| *other > family).min();
        let end = next.map_or(Bound::Unbounded, |next| Bound::Excluded((next, Vec::new())));
        let mut places = self.changes.range((Bound::Included((family, Vec::new())), end)).rev();
        places.find(|(_, change)| change.is_some()).map(|((_, key), _)| key.as_slice())
    }

    pub(crate) fn range(
        &self,
        family: Family,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        let start = Bound::Included((family, from.to_vec()));
        let within = move |key: &[u8]| to.is_none_or(|to| key < to);
        self.changes
            .range((start, Bound::Unbounded))
            .take_while(move |((other, key), _)| *other == family && within(key))
            .map(|((_, key), value)| (key.as_slice(), value.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_savepoint_keeps_one_value_of_a_key_however_often_it_changes() {
        let mut overlay = Overlay::default();
        overlay.put(Family::Meta, b"held", vec![0]);
        overlay.savepoint();
        for value in 1..100 {
            overlay.put(Family::Meta, b"held", vec![value]);
            overlay.put(Family::Meta, b"new", vec![value]);
        }
        overlay.delete(Family::Meta, b"held");
        assert_eq!(overlay.undo.last().map(BTreeMap::len), Some(2));
        overlay.rollback();
        assert_eq!(
            overlay.iter().collect::<Vec<_>>(),
            [(Family::Meta, &b"held"[..], Some(&[0][..]))]
        );
    }

    #[test]
    fn savepoints_stand_within_each_other() {
        let set = |value| [(Family::Meta, &b"key"[..], Some(value))];
        let mut overlay = Overlay::default();
        overlay.put(Family::Meta, b"key", vec![0]);
        overlay.savepoint();
        overlay.put(Family::Meta, b"key", vec![1]);
        overlay.savepoint();
        overlay.put(Family::Meta, b"key", vec![2]);
        overlay.rollback();
        assert_eq!(overlay.iter().collect::<Vec<_>>(), set(&[1][..]));
        overlay.savepoint();
        overlay.put(Family::Meta, b"key", vec![3]);
        overlay.put(Family::Meta, b"other", vec![3]);
        overlay.release();
        overlay.rollback();
        assert_eq!(overlay.iter().collect::<Vec<_>>(), set(&[0][..]));
    }
}
