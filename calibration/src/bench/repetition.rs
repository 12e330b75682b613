//! Something done several times, and again where the machine was not there.

use super::{Bench, Error};
use crate::bar::Bar;
use crate::witness::Seen;

/// A larger share of a repetition's time given away by the hypervisor leaves nothing to judge.
const STOLEN: f64 = 0.1;

/// One of several.
pub struct Repetition<T> {
    /// The findings, or why there are none.
    pub found: Result<T, String>,
    /// The findings in a few words.
    pub words: String,
    /// The witness's report on this one.
    pub seen: Seen,
}

impl Bench {
    /// Does something `times` times, with a line for the terminal after each. `describe`: what came of one, in a few words.
    pub fn repeat<T>(
        &self,
        name: &str,
        times: usize,
        once: impl FnMut() -> Result<T, Error>,
        describe: impl Fn(&T) -> String,
    ) -> Result<Vec<Repetition<T>>, Error> {
        let (done, _) = self.repetitions((name, times, 0), once, describe)?;
        Ok(done)
    }

    /// Does something `times` times, and again whatever came out of one of whose time the hypervisor gave away more than [`STOLEN`], for the
    /// instrument claims nothing then and is right: at most a quarter as often. With a row that says how often.
    pub fn repeat_undisturbed<T>(
        &self,
        name: &str,
        times: usize,
        once: impl FnMut() -> Result<T, Error>,
        describe: impl Fn(&T) -> String,
    ) -> Result<(Vec<Repetition<T>>, Bar), Error> {
        let spare = times.div_ceil(4);
        let (done, again) = self.repetitions((name, times, spare), once, describe)?;
        let row = Bar::shown(
            format!("{name}: repetitions made again"),
            format!("steal above {:.0} %, at most {spare}", 100.0 * STOLEN),
            again.to_string(),
        );
        Ok((done, row))
    }

    /// Repetitions, and how many further ones were set aside, of so many at most.
    fn repetitions<T>(
        &self,
        (name, times, spare): (&str, usize, usize),
        mut once: impl FnMut() -> Result<T, Error>,
        describe: impl Fn(&T) -> String,
    ) -> Result<(Vec<Repetition<T>>, usize), Error> {
        let mut done: Vec<Repetition<T>> = Vec::with_capacity(times);
        let mut again = 0;
        for number in 1..=times {
            let (result, seen) = loop {
                let (result, seen) = self.witnessed(&mut once);
                let is_over = matches!(result, Err(Error::Interrupted));
                if is_over || again == spare || seen.steal_share <= STOLEN {
                    break (result, seen);
                }
                again += 1;
                self.progress(&format!(
                    "{name} {number}/{times}: set aside{}",
                    seen.aside()
                ));
            };
            // What fails at once will not work later either; what worked before was disturbed.
            let found = match result {
                Ok(found) => Ok(found),
                Err(error) if done.is_empty() || matches!(error, Error::Interrupted) => {
                    return Err(error);
                }
                Err(error) => Err(error.to_string()),
            };
            let words = found.as_ref().map_or_else(Clone::clone, &describe);
            self.progress(&format!("{name} {number}/{times}: {words}{}", seen.aside()));
            done.push(Repetition { found, words, seen });
        }
        Ok((done, again))
    }
}
