//! The rules of a route: each is of exactly one kind, and possible.

use super::super::wire::rules::{BreakerBlock, FieldsBlock, ReplyBlock, RuleBlock};
use super::super::wire::secrets::SecretText;
use super::{Checker, secrets};
use crate::messages::edits::{self, FieldEdits};
use crate::policy::rules::body_limit::BodyLimit;
use crate::policy::rules::breaker::{AfterRest, Breaker, BreakerLimits};
use crate::policy::rules::matcher::PathMatcher;
use crate::policy::rules::reply::Reply;
use crate::policy::rules::{Exemption, Rule, Rules, What};
use plimsoll_base::document::{Entries, Path, Text};
use plimsoll_secrets::Purpose;
use std::sync::Arc;

/// The rules of a route, if it has any.
pub(super) fn rules(c: &mut Checker<'_>, at: &Path, blocks: &[RuleBlock]) -> Option<Rules> {
    let mut rules = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let at = at.index(index);
        for (number, method) in block.methods.iter().enumerate() {
            if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
                let message = format!("`{method}` is not a method: write for instance `GET`");
                c.refuse(at.key("methods").index(number), message);
            }
        }
        let paths = PathMatcher::below(&block.at);
        if let Err(message) = &paths {
            c.refuse(at.key("at"), message.clone());
        }
        if let (Ok(paths), Some(what)) = (paths, what(c, &at, block)) {
            rules.push(Rule {
                paths,
                methods: block.methods.clone(),
                what,
            });
        }
    }
    (!blocks.is_empty()).then(|| Rules::new(rules, false))
}

fn what(c: &mut Checker<'_>, at: &Path, block: &RuleBlock) -> Option<What> {
    let mut kinds: Vec<What> = Vec::new();
    for (name, flag, what) in [
        ("exempt", block.exempt, What::Exempt(Exemption::All)),
        ("deny", block.deny, What::Deny),
        ("allow", block.allow, What::Allow),
    ] {
        match flag {
            Some(true) => kinds.push(what),
            Some(false) => c.refuse(at.key(name), "write `true`, or leave the rule out"),
            None => {}
        }
    }
    kinds.extend(
        block
            .body
            .map(|bytes| What::BodyLimit(BodyLimit::of(*bytes))),
    );
    kinds.extend(block.timeout.map(|timeout| What::Timeout(*timeout)));
    if let Some(block) = &block.reply {
        kinds.push(What::Reply(reply(c, &at.key("reply"), block)));
    }
    if let Some(block) = &block.breaker {
        kinds.push(What::Breaker(breaker(c, &at.key("breaker"), block)));
    }
    if let Some(block) = &block.request_fields {
        kinds.push(What::RequestFields(fields(
            c,
            &at.key("request_fields"),
            block,
        )));
    }
    if let Some(block) = &block.response_fields {
        kinds.push(What::ResponseFields(fields(
            c,
            &at.key("response_fields"),
            block,
        )));
    }
    if kinds.len() != 1 {
        let message = "a rule is one of `reply`, `exempt`, `deny`, `allow`, `body`, `timeout`, `breaker`, `request_fields` and `response_fields`: write exactly one";
        c.refuse(at.key("at"), message);
    }
    kinds.pop()
}

fn reply(c: &mut Checker<'_>, at: &Path, block: &ReplyBlock) -> Reply {
    if !(200..600).contains(&block.status) || matches!(block.status, 204 | 205 | 304) {
        c.refuse(
            at.key("status"),
            "a reply has a status from 200 to 599 that goes with a body",
        );
    }
    Reply {
        status: block.status,
        fields: reply_fields(c, &at.key("fields"), &block.fields),
        body: block.body.clone(),
    }
}

fn breaker(c: &mut Checker<'_>, at: &Path, block: &BreakerBlock) -> Arc<Breaker> {
    if *block.failure_ratio <= 0.0 {
        c.refuse(
            at.key("failure_ratio"),
            "0 would open it at once: write for instance `50%`",
        );
    }
    if block.samples == 0 {
        c.refuse(at.key("samples"), "write at least 1");
    }
    Arc::new(Breaker::new(BreakerLimits {
        failure_ratio: *block.failure_ratio,
        samples: block.samples,
        open_for: *block.open_for,
        after: AfterRest::Try,
        departures_fail: false,
    }))
}

fn fields(c: &mut Checker<'_>, at: &Path, block: &FieldsBlock) -> Arc<FieldEdits> {
    for (index, name) in block.remove.iter().enumerate() {
        if let Some(message) = edits::refusal(name, "") {
            c.refuse(at.key("remove").index(index), message);
        }
    }
    let mut set = Vec::new();
    for (name, written) in block.set.iter() {
        let at = at.key("set").key(name);
        let plain = match written {
            SecretText::Plain(value) => value,
            SecretText::Elsewhere(_) => "",
        };
        if let Some(message) = edits::refusal(name, plain) {
            c.refuse(at, message);
        } else if let Some(value) = secrets::secret(c, &at, written, Purpose::Field) {
            set.push((name.to_owned(), value));
        }
    }
    Arc::new(FieldEdits {
        remove: block.remove.clone(),
        set,
    })
}

fn reply_fields(c: &mut Checker<'_>, at: &Path, fields: &Entries<Text>) -> Vec<(String, String)> {
    let mut possible = Vec::new();
    for (name, value) in fields.iter() {
        if let Some(message) = edits::refusal(name, value) {
            c.refuse(at.key(name), message);
        }
        possible.push((name.to_owned(), value.to_string()));
    }
    possible
}
