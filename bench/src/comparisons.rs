//! What is compared, in the order in which it runs. Each comparison is a file.

mod added;
mod bodies;
mod delay;
mod gateway;
mod generator_closed;
mod generator_open;
mod idle_connections;
mod mock;

use crate::bench::Bench;
use crate::row::Row;
use crate::trouble::Trouble;

/// One comparison.
pub struct Comparison {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What it shows, for the terminal.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(&Bench) -> Result<Vec<Row>, Trouble>,
}

const ALL: &[Comparison] = &[
    generator_closed::COMPARISON,
    generator_open::COMPARISON,
    mock::COMPARISON,
    delay::COMPARISON,
    gateway::COMPARISON,
    added::COMPARISON,
    idle_connections::COMPARISON,
    bodies::COMPARISON,
];

/// Those of these names; all of them without any.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Comparison>, Trouble> {
    if let Some(name) = names
        .iter()
        .find(|name| ALL.iter().all(|c| c.name != **name))
    {
        let known: Vec<&str> = ALL.iter().map(|comparison| comparison.name).collect();
        return Err(Trouble::Asked(format!(
            "--only {name}: there are {}",
            known.join(", ")
        )));
    }
    let asked = |c: &&Comparison| names.is_empty() || names.iter().any(|name| name == c.name);
    Ok(ALL.iter().filter(asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_says_which_there_are() {
        let error = chosen(&["mok".to_owned()]).err().unwrap().to_string();
        assert!(
            error.starts_with("--only mok: there are generator-closed, "),
            "{error}"
        );
        assert_eq!(chosen(&["mock".to_owned()]).unwrap().len(), 1);
        assert_eq!(chosen(&[]).unwrap().len(), ALL.len());
    }
}
