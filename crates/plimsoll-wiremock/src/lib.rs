//! WireMock's language: what stub mappings say, which of them a request matches, and what it is answered. Nothing here opens a socket or
//! knows who serves: time, randomness and files come in from outside, but for the files of a root directory and the moment that dates are held against.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | which stub answers, and what who matched none is told | `stub_set`, `differences` |
//! | a stub mapping: its pattern, response, behaviour | `stub` |
//! | response templates | `template` |
//! | content patterns on a request | `matcher`, `path_template` |
//! | a request as patterns see it | `request`, `multipart`, `parameters`, `content`, `content_type`, `misread` |
//! | JSON, XML, dates and expressions as Java has them | `json`, `json_equality`, `json_path`, `xml`, `java_regex`, `java_json`, `java_set`, `java_date_format`, `date_time`, `time_format`, `edit_distance` |
//! | parts of a response, states | `answer`, `delay`, `delivery`, `stub_state`, `stub_id` |
//! | how mappings are read | `surroundings`, `targets`, `body_files`, `reader` |
//! | what anything may cost, what time it is | `budget`, `clock` |

pub mod answer;
pub mod body_files;
pub mod budget;
pub mod clock;
pub mod content;
pub mod content_type;
mod date_time;
pub mod delay;
pub mod delivery;
pub mod differences;
pub mod edit_distance;
mod java_date_format;
pub mod java_json;
mod java_regex;
pub mod java_set;
mod json;
mod json_equality;
mod json_path;
pub mod matcher;
pub mod misread;
mod multipart;
pub mod parameters;
mod path_template;
pub mod reader;
pub mod request;
pub mod stub;
pub mod stub_id;
pub mod stub_set;
pub mod stub_state;
pub mod surroundings;
pub mod targets;
pub mod template;
mod time_format;
pub mod xml;
