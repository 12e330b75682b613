//! `summary.json` is a contract: its schema and one example per method are committed, and must be what the code makes.
