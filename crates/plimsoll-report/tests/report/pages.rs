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

#[test]
fn draw() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(
        dir.join("compare.html"),
        render::html::render(&fixture::compare()),
    )
    .unwrap();
    std::fs::write(
        dir.join("measure.html"),
        render::html::render(&fixture::measure()),
    )
    .unwrap();
}
