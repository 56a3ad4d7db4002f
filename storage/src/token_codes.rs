//! The vectors of the tokens of what a node says, a bit a component: what late interaction reads.
//!
//! They follow from the text and the model, and the stamp says of which they were made. So they have
//! no history: codes whose stamp does not fit the text that is read are as good as none.

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{LabelId, NodeId};
use crate::key;
use crate::reader::Reader;
use crate::record::{self, Decode, Encode};
use crate::transaction::Transaction;

/// The most bytes of the codes of a node.
pub const TOKEN_CODES_MAX: usize = 1 << 20;

/// The codes of the tokens of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TokenCodes {
    /// Of which text and model they are, and how wide.
    pub stamp: u64,
    /// The codes of the tokens, one after another.
    pub bits: Vec<u8>,
}

impl TokenCodes {
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        record::encode(self)
    }

    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        record::decode(Family::TokenCodes, key, value)
    }
}

impl Reader<'_> {
    /// The codes of a node; none if it has none.
    pub fn token_codes(&self, label: LabelId, node: NodeId) -> Result<Option<TokenCodes>> {
        let key = key::vector(label, node);
        let Some(bytes) = self.view().get(Family::TokenCodes, &key)? else { return Ok(None) };
        TokenCodes::decode(&key, &bytes).map(Some)
    }
}

impl Transaction<'_> {
    /// Sets the codes of a node, in place of those that it had.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if they have more than [`TOKEN_CODES_MAX`] bytes, and an error if
    /// there is no such node.
    pub fn put_token_codes(&mut self, node: NodeId, codes: &TokenCodes) -> Result<()> {
        if codes.bits.len() > TOKEN_CODES_MAX {
            let most = TOKEN_CODES_MAX;
            return Err(StorageError::Invalid(format!(
                "codes of tokens have {most} bytes at most"
            )));
        }
        let label = self.reader().current_node(node)?.label;
        self.overlay.put(Family::TokenCodes, key::vector(label, node), codes.encode()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{SystemScope, Time};
    use crate::store::Store;
    use crate::{Durability, Memory};

    use super::*;

    const NOW: Time = 1_000_000;

    #[test]
    fn codes_are_kept_until_the_node_or_its_embedding_goes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db"), Memory::default()).unwrap();
        let codes = TokenCodes { stamp: 7, bits: vec![1, 2, 3] };
        let mut transaction = store.begin(NOW).unwrap();
        let nodes = ["a", "b"].map(|key| {
            let node = transaction.put_node("Turn", key, &Default::default()).unwrap();
            transaction.put_vector(node, "m", &[1.0]).unwrap();
            transaction.put_token_codes(node, &codes).unwrap();
            node
        });
        transaction.commit(Durability::Sync, NOW).unwrap();
        let label = store.snapshot(NOW).reader().catalog().label("Turn").unwrap();
        let held = |node| store.snapshot(NOW).reader().token_codes(label, node).unwrap();
        assert_eq!(nodes.map(held), [Some(codes.clone()), Some(codes)]);
        let mut transaction = store.begin(NOW + 1).unwrap();
        transaction.delete_vector(nodes[0]).unwrap();
        transaction.forget(&[nodes[1]], &[]).unwrap();
        transaction.commit(Durability::Sync, NOW + 1).unwrap();
        assert_eq!(nodes.map(held), [None, None]);
        let first = store.snapshot(NOW + 2).reader().node(nodes[0], SystemScope::Current).unwrap();
        assert!(first.is_some());
    }
}
