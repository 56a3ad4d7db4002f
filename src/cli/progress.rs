//! Bars for long work, on stderr and only if that is a terminal.
//!
//! Nothing depends on them: whoever takes a bar away changes no answer.

use engraph::Family;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for work that knows how much there is.
pub(super) fn bar() -> ProgressBar {
    styled("{bar:40} {percent:>3}%  {elapsed}, {eta} left")
}

/// A bar for several pieces of work, each of which has a name.
pub(super) fn named_bar() -> ProgressBar {
    styled("{bar:40} {pos}/{len}  {elapsed}  {msg}")
}

/// A bar for work that goes through the column families.
pub(super) struct FamilyBar(ProgressBar);

impl FamilyBar {
    pub(super) fn new() -> Self {
        let bar = named_bar();
        bar.set_length(Family::ALL.len() as u64);
        Self(bar)
    }

    /// Shows that a family begins.
    pub(super) fn begin(&self, family: Family) {
        let done = Family::ALL.iter().take_while(|other| **other != family).count();
        self.0.set_position(done as u64);
        self.0.set_message(family.name());
    }

    /// Takes the bar away, so that nothing stands after it.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn styled(template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The template is a constant; should it ever be wrong, the default bar does as well.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
