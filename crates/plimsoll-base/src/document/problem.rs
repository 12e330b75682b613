//! One problem of a user's file, and the list of all of them.

use std::fmt;

use crate::visible::in_line;

/// Something in a user's file that is refused, with its place and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as the user named it, or the command-line override (`--set load.rate=5`).
    pub file: String,
    /// Line, from 1; 0 when the problem has no place inside `file`.
    pub line: u32,
    /// Column in characters, from 1; 0 when the problem has no place inside `file`.
    pub column: u32,
    /// The node: `components.a.mock`, `routes[0].path`; empty for the whole document.
    pub path: String,
    /// The problem, and what to write instead.
    pub message: String,
}

impl Problem {
    /// A problem of the file as a whole, for instance that it cannot be read.
    #[must_use]
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            path: String::new(),
            message: message.into(),
        }
    }
}

/// One line, whatever the names and values of the file hold.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_line(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", in_line(&self.path))?;
        }
        write!(f, ": {}", in_line(&self.message))
    }
}

/// Problems beyond this are counted: whoever has written as many wants to hear of the first ones.
pub const MOST_PROBLEMS: usize = 100;

/// The problems of one or more files, in order of position, the first [`MOST_PROBLEMS`] of them. Displays as one line per problem.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    listed: Vec<Problem>,
    /// How many there are beyond those.
    further: usize,
}

impl Problems {
    /// The problems in order of position.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.listed.iter()
    }

    /// How many there are, those that are only counted included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.listed.len() + self.further
    }

    /// Counts problems that are not listed.
    pub fn count_further(&mut self, problems: usize) {
        self.further += problems;
    }

    /// Adds others, those that are only counted, too.
    pub fn append(&mut self, others: Self) {
        self.further += others.further;
        self.extend(others);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `value` when there are no problems.
    ///
    /// # Errors
    /// These problems, when there are any.
    pub fn or_ok<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        for problem in problems {
            self.insert(problem);
        }
    }
}

impl Problems {
    /// At its position; what is listed already is not told again.
    fn insert(&mut self, problem: Problem) {
        let Err(at) = self.listed.binary_search(&problem) else {
            return;
        };
        if at < MOST_PROBLEMS {
            self.listed.insert(at, problem);
        } else {
            self.further += 1;
        }
        if self.listed.len() > MOST_PROBLEMS {
            self.listed.truncate(MOST_PROBLEMS);
            self.further += 1;
        }
    }
}

impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(problems: I) -> Self {
        let mut all = Self::default();
        all.extend(problems);
        all
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self {
            listed: vec![problem],
            further: 0,
        }
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.listed.into_iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.listed.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.further {
            0 => Ok(()),
            further => write!(f, "\nand {further} further problems"),
        }
    }
}

impl std::error::Error for Problems {}
