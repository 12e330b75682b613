//! Renderers: each a pure function of a [`crate::render::view::RunView`] to text, one file each. The same run gives the same bytes.
//!
//! The figures are decided before; here they are shown. Tables that several renderers show are built once in
//! `figures`; all numbers are formatted through `words`.

mod advice;
mod cause;
mod composition;
pub mod csv;
mod figures;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod picture;
mod rates;
mod strain;
mod table;
pub mod terminal;
pub mod view;
mod words;

pub(crate) use words::{conclusion, interval, signed_time};

/// A table of words for the terminal: head, and rows of as many cells.
pub(crate) fn text_table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    const ALL: &[usize] = &[1, 3, 4, 5];
    let mut table = table::Table::new(head.iter().copied()).with_words(ALL);
    table.rows = rows;
    table.to_text()
}
