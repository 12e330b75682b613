//! WireMock's language: what stub mappings say, which of them a request matches, and what it is answered. Nothing here opens a socket or
//! knows who serves: time, randomness and files come in from outside, but for the files of a root directory and the moment that dates are held against.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | a stub mapping: its pattern, response, behaviour; which of a set answers, and what who matched none is told | `stub` |
//! | response templates | `template` |
//! | content patterns on a request | `matcher` |
//! | a request as patterns see it | `request` |
//! | JSON and XML to compare and to search | `document` |
//! | dates, expressions and sets as Java has them | `java` |
//! | parts of a response; the identity of a stub | `response`, `stub_id` |
//! | how mappings are read, and what beside their text | `reader` |
//! | what anything may cost, what time it is | `budget`, `clock` |

pub mod budget;
pub mod clock;
pub mod document;
pub mod java;
pub mod matcher;
pub mod reader;
pub mod request;
pub mod response;
pub mod stub;
pub mod stub_id;
pub mod template;
