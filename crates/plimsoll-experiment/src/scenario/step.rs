//! One exchange: method and path, query, header fields, body, and where redirects are counted.

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{self, Action, Expression, Follow, Span};

use super::body::{self, Body};
use super::{Converter, Step, check, extract, headers};
use crate::loader::Loader;
use crate::template::{Template, TemplatePart};
use crate::wire::{AuthWire, StepWire};

/// Characters of a name.
pub(super) const LONGEST_NAME: usize = 100;
/// Redirects in a row.
const MOST_REDIRECTS: u32 = 50;

pub(super) fn convert(
    converter: &mut Converter<'_, '_>,
    wire: &StepWire,
    at: &Pointer,
) -> Option<Action<Template>> {
    let (key, method, path) = method(converter.loader, wire, at)?;
    refuse_keys_of_ways(converter.loader, wire, at);
    let name = name(converter, wire, method, path, at);
    let loader = &mut *converter.loader;
    let mut fields = headers(loader, wire.headers.as_ref(), &at.key("headers"));
    if let Some(auth) = &wire.auth {
        fields.extend(authorization(loader, auth, &at.key("auth"), &fields));
    }
    let (body, media_type) = body::convert(loader, wire, at);
    let is_given = |(name, _): &(String, Template)| name.eq_ignore_ascii_case("content-type");
    if let Some(media_type) = media_type
        && !fields.iter().any(is_given)
    {
        fields.push(("Content-Type".to_owned(), Template::literal(media_type)));
    }
    let path = target(loader, wire, path, &at.key(key), at);
    let most = redirects(loader, wire, at);
    let place = converter.scenario.steps.len();
    let (check, checks) = check::convert(converter.loader, wire.check.as_ref(), &at.key("check"));
    let exchange = plan::Step {
        name,
        method: method.to_owned(),
        path,
        headers: fields,
        body,
        timeout: wire.timeout.map(|timeout| *timeout),
        pause: wire.pause.map_or(Span::ZERO, |pause| pause.span()),
        check,
        extract: extract::convert(converter.loader, wire.extract.as_ref(), &at.key("extract")),
        follow: most.map(|most| Follow {
            most,
            series: place + 1,
        }),
    };
    let step = Step {
        exchange,
        place: at.clone(),
        checks,
    };
    if most.is_some() {
        let hops = hops(converter, &step);
        converter.scenario.steps.push(step);
        converter.scenario.steps.push(hops);
    } else {
        converter.scenario.steps.push(step);
    }
    Some(Action::Step(place))
}

/// The series of a step's redirects: followed by GET, or by HEAD, without a body (RFC 9110, section 15.4).
fn hops(converter: &mut Converter<'_, '_>, step: &Step) -> Step {
    let of_body = |name: &str| name.to_ascii_lowercase().starts_with("content-");
    let first = &step.exchange;
    let fields = first.headers.iter().filter(|(name, _)| !of_body(name));
    let method = if first.method == "HEAD" {
        "HEAD"
    } else {
        "GET"
    };
    let exchange = plan::Step {
        name: converter.unused(format!("{} (redirects)", first.name)),
        method: method.to_owned(),
        path: Template::literal("/"),
        headers: fields.cloned().collect(),
        body: Body::Empty,
        pause: Span::ZERO,
        ..first.clone()
    };
    Step {
        exchange,
        ..step.clone()
    }
}

fn method<'a>(
    loader: &mut Loader<'_>,
    wire: &'a StepWire,
    at: &Pointer,
) -> Option<(&'static str, &'static str, &'a str)> {
    let methods = [
        ("get", "GET", &wire.get),
        ("head", "HEAD", &wire.head),
        ("post", "POST", &wire.post),
        ("put", "PUT", &wire.put),
        ("patch", "PATCH", &wire.patch),
        ("delete", "DELETE", &wire.delete),
        ("options", "OPTIONS", &wire.options),
    ];
    let mut written = methods
        .iter()
        .filter_map(|(key, method, path)| path.as_ref().map(|path| (*key, *method, path)));
    let Some((key, method, path)) = written.next() else {
        loader.refuse(at, "has no method: write one of `get`, `head`, `post`, `put`, `patch`, `delete` and `options` with a path, or one of `mix`, `repeat`, `if`, `group` and `pause`");
        return None;
    };
    if let Some((second, _, _)) = written.next() {
        loader.refuse_key(
            at.key(second),
            format!(
                "a step is one exchange, and this is `{key}` already: make it a step of its own"
            ),
        );
    }
    Some((key, method, path))
}

fn refuse_keys_of_ways(loader: &mut Loader<'_>, wire: &StepWire, at: &Pointer) {
    for (key, is_written) in [
        ("steps", wire.steps.is_some()),
        ("else", wire.otherwise.is_some()),
    ] {
        if is_written {
            loader.refuse_key(
                at.key(key),
                "belongs to `repeat`, `if` and `group`: an exchange has no steps",
            );
        }
    }
}

fn name(
    converter: &mut Converter<'_, '_>,
    wire: &StepWire,
    method: &str,
    path: &str,
    at: &Pointer,
) -> String {
    let name = wire
        .name
        .clone()
        .unwrap_or_else(|| format!("{method} {path}"));
    if name.is_empty()
        || name.chars().count() > LONGEST_NAME && wire.name.is_some()
        || name.contains(char::is_control)
    {
        converter.refuse(
            &at.key("name"),
            format!("cannot name a step: write 1 to {LONGEST_NAME} printable characters"),
        );
    }
    let name: String = name.chars().take(LONGEST_NAME).collect();
    if converter.names.contains(&name) && wire.name.is_some() {
        let message = format!("another step is called `{name}` already: choose another name");
        converter.refuse(&at.key("name"), message);
    }
    converter.unused(name)
}

/// The path with its query.
fn target(
    loader: &mut Loader<'_>,
    wire: &StepWire,
    path: &str,
    path_at: &Pointer,
    at: &Pointer,
) -> Template {
    let target = loader.template(path_at, path, None);
    let Some(query) = wire.query.as_ref().filter(|query| !query.0.is_empty()) else {
        return target;
    };
    let first = if path.contains('?') { "&" } else { "?" };
    let query = body::pairs(loader, query, &at.key("query"), "%20");
    Template::concat([target, Template::literal(first), query])
}

fn authorization(
    loader: &mut Loader<'_>,
    auth: &AuthWire,
    at: &Pointer,
    fields: &[(String, Template)],
) -> Option<(String, Template)> {
    const NAME: &str = "Authorization";
    if fields
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(NAME))
    {
        loader.refuse_key(
            at,
            "is written as the field `Authorization` already: keep one",
        );
    }
    let value = match (&auth.basic, &auth.bearer) {
        (Some(basic), None) => {
            let credentials = loader.template(&at.key("basic"), basic, None);
            if !basic.contains(':') {
                loader.refuse(
                    at.key("basic"),
                    "is a name, a colon and a password: write `name:password`",
                );
            }
            let parts = credentials.parts().iter().map(|part| match part {
                TemplatePart::Literal(text) => Expression::Text(text.clone()),
                TemplatePart::Reference(reference) => Expression::Reference(reference.clone()),
                TemplatePart::Value(expression) => expression.clone(),
            });
            let joined = Expression::Call {
                function: "base64".to_owned(),
                arguments: vec![Expression::Join(parts.collect())],
            };
            Template::concat([Template::literal("Basic "), Template::value(joined)])
        }
        (None, Some(bearer)) => {
            let token = loader.template(&at.key("bearer"), bearer, None);
            Template::concat([Template::literal("Bearer "), token])
        }
        _ => {
            loader.refuse(at, "is one of `basic` and `bearer`");
            return None;
        }
    };
    Some((NAME.to_owned(), value))
}

fn redirects(loader: &mut Loader<'_>, wire: &StepWire, at: &Pointer) -> Option<u32> {
    let written = wire.redirects.as_ref()?;
    if written.0 == "off" {
        return None;
    }
    match written.0.parse() {
        Ok(most @ 1..=MOST_REDIRECTS) => Some(most),
        _ => {
            let message = format!(
                "`{}` is no number of redirects: write `off` or 1 to {MOST_REDIRECTS}",
                written.0
            );
            loader.refuse(at.key("redirects"), message);
            None
        }
    }
}
