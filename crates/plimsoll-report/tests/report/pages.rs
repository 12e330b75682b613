//! Every output of a synthetic run, as people see it.

use crate::fixture;
use plimsoll_report::render;

#[test]
fn terminal() {
    let text = render::terminal::render(&fixture::compare());
    println!("{text}");
}

#[test]
fn markdown() {
    println!("{}", render::markdown::render(&fixture::compare()));
}
