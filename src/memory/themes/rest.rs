//! What a change of themes costs: the themes that stay, with their nearest centroids, and the new
//! ones beside them.
//!
//! A change is tried by its objective before it is made, and both look only at what is around it.

use std::cmp::Ordering;

use super::super::vector::dot;
use super::Theme;
use super::objective::{Shape, objective};

/// A theme, and the cosine of its centroid with something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    pub(super) similarity: f32,
    pub(super) theme: u64,
}

impl Nearest {
    pub(super) fn of(vector: &[f32], theme: &Theme) -> Self {
        Self { similarity: dot(vector, &theme.centroid), theme: theme.id }
    }

    /// By similarity; of equals the theme with the lower id is nearer.
    pub(super) fn cmp_likeness(&self, other: &Self) -> Ordering {
        let similarity = self.similarity.total_cmp(&other.similarity);
        similarity.then(other.theme.cmp(&self.theme))
    }
}

pub(super) fn nearer(a: Option<Nearest>, b: Option<Nearest>) -> Option<Nearest> {
    [a, b].into_iter().flatten().max_by(Nearest::cmp_likeness)
}

impl Theme {
    pub(super) fn shape(&self, nearest: Option<Nearest>) -> Shape {
        let nearest = nearest.map_or(0.0, |nearest| f64::from(nearest.similarity));
        Shape { members: self.members.len(), cohesion: self.cohesion, nearest }
    }
}

/// The themes that stay when some are taken out: their places, and the nearest to each among them.
pub(super) struct Rest {
    kept: Vec<(usize, Option<Nearest>)>,
}

impl Rest {
    /// Only those whose nearest theme is taken out look for another. No other is nearer than that was, so they
    /// stop at the first that is as near: of many equal themes each is asked about a few.
    pub(super) fn without(themes: &[Theme], removed: &[u64]) -> Self {
        let kept: Vec<&Theme> = themes.iter().filter(|t| !removed.contains(&t.id)).collect();
        let nearest = |theme: &Theme| match theme.nearest {
            Some(gone) if removed.contains(&gone.theme) => {
                let mut best = None;
                for other in kept.iter().filter(|other| other.id != theme.id) {
                    let near = Nearest::of(&theme.centroid, other);
                    best = nearer(best, Some(near));
                    if near.similarity >= gone.similarity {
                        break;
                    }
                }
                best
            }
            nearest => nearest,
        };
        let places = (0..themes.len()).filter(|place| !removed.contains(&themes[*place].id));
        Self { kept: places.map(|place| (place, nearest(&themes[place]))).collect() }
    }

    /// The objective if these were added.
    pub(super) fn objective(&self, themes: &[Theme], added: &[Theme]) -> f64 {
        let (kept, new) = self.nearest_with(themes, added);
        let kept = self.kept.iter().zip(kept).map(|((place, _), near)| themes[*place].shape(near));
        let new = added.iter().zip(new).map(|(theme, near)| theme.shape(near));
        objective(&kept.chain(new).collect::<Vec<_>>())
    }

    /// Adds these, and makes themes of what is kept and them, in ascending order.
    pub(super) fn join(self, themes: &mut Vec<Theme>, added: Vec<Theme>) {
        let (kept_near, new_near) = self.nearest_with(themes, &added);
        let mut place = 0;
        let mut next = self.kept.iter().map(|kept| kept.0).peekable();
        themes.retain(|_| {
            place += 1;
            next.next_if_eq(&(place - 1)).is_some()
        });
        themes.iter_mut().zip(kept_near).for_each(|(theme, near)| theme.nearest = near);
        let new = added.into_iter().zip(new_near);
        themes.extend(new.map(|(theme, nearest)| Theme { nearest, ..theme }));
        themes.sort_by_key(|theme| theme.id);
    }

    /// The nearest to each that is kept, and to each that is added.
    fn nearest_with(
        &self,
        themes: &[Theme],
        added: &[Theme],
    ) -> (Vec<Option<Nearest>>, Vec<Option<Nearest>>) {
        let mut kept: Vec<Option<Nearest>> = self.kept.iter().map(|kept| kept.1).collect();
        let mut new: Vec<Option<Nearest>> = vec![None; added.len()];
        for (i, theme) in added.iter().enumerate() {
            for (held, (place, _)) in kept.iter_mut().zip(&self.kept) {
                let near = Nearest::of(&theme.centroid, &themes[*place]);
                new[i] = nearer(new[i], Some(near));
                *held = nearer(*held, Some(Nearest { theme: theme.id, ..near }));
            }
            for other in added.iter().filter(|other| other.id != theme.id) {
                new[i] = nearer(new[i], Some(Nearest::of(&theme.centroid, other)));
            }
        }
        (kept, new)
    }
}
