//! Which verdict which evidence gives.
