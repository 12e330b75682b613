//! Endpoints for operators: their pages, who may ask for them, and the numbers that they show.

pub mod authority;
pub mod exposition;
pub mod meters;
pub mod pages;
