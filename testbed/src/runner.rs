//! A run of a program that measures, from its arguments to its exit code: the machine is made ready, what was asked for by name is carried
//! out piece by piece, and the dated table is written anew after each. The pieces and the table's rows are the program's.

use crate::terminal::say;
use crate::witness::Witness;
use crate::{Error, clock, executable, host, interrupt, limits};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The foundation of a run: the executable that is measured, and the witness of the machine.
pub struct Run {
    /// The executable.
    pub plimsoll: PathBuf,
    /// The witness, which watches from now on.
    pub witness: Witness,
    /// Date and time of its beginning, which the table's file is named by.
    pub stamp: String,
}

impl Run {
    /// Raises limits, notices from now on that it is asked to stop, finds or builds the executable, and starts the witness.
    ///
    /// # Errors
    /// [`Error`]: one of them fails.
    pub fn begin(plimsoll: Option<PathBuf>) -> Result<Self, Error> {
        limits::raise_descriptors();
        interrupt::watch()?;
        Ok(Self {
            plimsoll: executable::plimsoll(plimsoll)?,
            witness: Witness::start().map_err(Error::when("starting the witness"))?,
            stamp: clock::stamp(),
        })
    }

    /// The head of its table. `note`: a paragraph above the facts.
    pub fn head(&self, title: &'static str, note: Option<&'static str>) -> Head {
        let mut facts = host::facts(&self.plimsoll);
        facts.push(("witness", self.witness.post()));
        Head {
            title,
            stamp: self.stamp.clone(),
            note,
            facts,
        }
    }
}

/// The head of a dated table: title and date, a note, and facts of the host and of versions.
pub struct Head {
    title: &'static str,
    stamp: String,
    note: Option<&'static str>,
    /// Names and values, in order.
    pub facts: Vec<(&'static str, String)>,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} of {}\n", self.title, self.stamp)?;
        if let Some(note) = self.note {
            writeln!(f, "{note}\n")?;
        }
        for (name, value) in &self.facts {
            writeln!(f, "- {name}: {value}")?;
        }
        Ok(())
    }
}

/// Those of `all` that `--only` names, in the order of `all`; all of them if it names none.
///
/// # Errors
/// [`Error::Asked`], which lists the known names: there is none of this name.
pub fn chosen<'a, T>(
    all: &'a [T],
    name: impl Fn(&T) -> &'static str,
    only: &[String],
) -> Result<Vec<&'a T>, Error> {
    let known: Vec<&str> = all.iter().map(&name).collect();
    if let Some(unknown) = only.iter().find(|asked| !known.contains(&asked.as_str())) {
        let known = known.join(", ");
        return Err(Error::Asked(format!("--only {unknown}: there are {known}")));
    }
    let wanted = |one: &&T| only.is_empty() || only.iter().any(|asked| asked == name(one));
    Ok(all.iter().filter(wanted).collect())
}

/// Carries out one piece of work after the other, and writes the table after each, so that an interruption loses only the piece that it
/// interrupts.
///
/// # Errors
/// The first of a piece of work or of writing; [`Error::Interrupted`].
pub fn one_by_one<W, T: fmt::Display>(
    work: impl IntoIterator<Item = W>,
    file: &Path,
    table: &mut T,
    mut carry_out: impl FnMut(W, &mut T) -> Result<(), Error>,
) -> Result<(), Error> {
    let all = work.into_iter().try_for_each(|piece| {
        interrupt::check()?;
        carry_out(piece, table)?;
        write(file, table)
    });
    if all.is_err() && file.exists() {
        say(&format!("table: {}", file.display()));
    }
    all
}

/// Writes a table, and the directory that it goes to.
///
/// # Errors
/// [`Error::Io`]: the system refuses.
pub fn write(file: &Path, table: &impl fmt::Display) -> Result<(), Error> {
    let directory = file.parent().unwrap_or(file);
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(file, table.to_string()))
        .map_err(Error::when(format!("writing {}", file.display())))
}

/// The exit code of a program: its own where it came to its end, 2 where its arguments ask for what there is not, else 5.
pub fn exit_code(program: &str, ended: Result<ExitCode, Error>) -> ExitCode {
    ended.unwrap_or_else(|error| {
        say(&format!("{program}: {error}"));
        ExitCode::from(match error {
            Error::Asked(_) => 2,
            _ => 5,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_says_which_there_are() {
        let check = |only: &[&str], expected: Result<&[&'static str], &str>| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            let found = chosen(&["mock", "gateway", "tls"], |name| name, &only);
            let found: Result<Vec<&str>, String> = found
                .map(|found| found.into_iter().copied().collect())
                .map_err(|error| error.to_string());
            let expected = expected.map(<[_]>::to_vec).map_err(str::to_owned);
            assert_eq!(found, expected);
        };
        check(&[], Ok(&["mock", "gateway", "tls"]));
        check(&["tls", "mock"], Ok(&["mock", "tls"]));
        check(
            &["mock", "mok"],
            Err("--only mok: there are mock, gateway, tls"),
        );
    }

    #[test]
    fn the_table_is_kept_when_a_later_piece_fails() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("results/table.md");
        let mut table = String::new();
        let ended = one_by_one([1, 2, 3], &file, &mut table, |piece, table| {
            if piece == 3 {
                return Err(Error::Measured("the third".to_owned()));
            }
            *table += &format!("row {piece}\n");
            Ok(())
        });
        assert!(matches!(ended, Err(Error::Measured(_))));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "row 1\nrow 2\n");
    }
}
