//! Waiting for something that another program does, by looking again and again.

use crate::{Error, clock, interrupt};
use std::time::Duration;

/// How long something is waited for, and how often it is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// The longest that is waited.
    pub limit: Duration,
    /// The pause between two looks.
    pub look: Duration,
}

impl Wait {
    /// A look every 20 ms.
    pub const fn up_to(limit: Duration) -> Self {
        let look = Duration::from_millis(20);
        Self { limit, look }
    }

    /// Waits until it is so.
    ///
    /// # Errors
    /// [`Error::Measured`], which names `what`: the limit has passed; the error of a look; [`Error::Interrupted`].
    pub fn until(
        self,
        what: &str,
        mut is_so: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let deadline = clock::now() + self.limit;
        while !is_so()? {
            interrupt::check()?;
            if clock::now() > deadline {
                let limit = self.limit;
                return Err(Error::Measured(format!("{what}: not within {limit:?}")));
            }
            clock::sleep(self.look);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_the_event_or_with_the_limit() {
        let mut looks = 0;
        let came = Wait::up_to(Duration::from_secs(60)).until("a third look", || {
            looks += 1;
            Ok(looks == 3)
        });
        assert!(came.is_ok() && looks == 3);
        let never = Wait::up_to(Duration::ZERO).until("rain", || Ok(false));
        assert_eq!(never.unwrap_err().to_string(), "rain: not within 0ns");
    }
}
