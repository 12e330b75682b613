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

pub(crate) mod answer;
pub(crate) mod body_files;
pub(crate) mod budget;
pub(crate) mod clock;
pub(crate) mod content;
pub(crate) mod content_type;
pub(crate) mod date_time;
pub(crate) mod delay;
pub(crate) mod delivery;
pub(crate) mod differences;
pub(crate) mod edit_distance;
pub(crate) mod java_date_format;
pub(crate) mod java_json;
pub(crate) mod java_regex;
pub(crate) mod java_set;
pub(crate) mod json;
pub(crate) mod json_equality;
pub(crate) mod json_path;
pub(crate) mod matcher;
pub(crate) mod misread;
pub(crate) mod multipart;
pub(crate) mod parameters;
pub(crate) mod path_template;
pub(crate) mod reader;
pub(crate) mod request;
pub(crate) mod stub;
pub(crate) mod stub_id;
pub(crate) mod stub_set;
pub(crate) mod stub_state;
pub(crate) mod surroundings;
pub(crate) mod targets;
pub(crate) mod template;
pub(crate) mod time_format;
pub(crate) mod xml;
