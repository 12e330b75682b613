//! Renderers: each a pure function of a [`crate::view::RunView`] to text, one file each. The same run gives the same bytes.
//!
//! What the figures are is decided before; here is only how they are shown. Tables that several renderers show are built once in
//! `figures`; all numbers are formatted through `words`.

mod advice;
mod composition;
pub mod csv;
mod figures;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod table;
pub mod terminal;
mod words;
