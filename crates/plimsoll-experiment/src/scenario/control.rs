//! The ways around exchanges: `mix`, `repeat` and `if`, and `group`.

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{
    Action, Choice, Comparison, Condition, GROUP_SEPARATOR, Span, group_path,
};

use super::Converter;
use super::step::LONGEST_NAME;
use crate::template::Template;
use crate::wire::StepWire;

/// Rounds of a loop.
const MOST_ROUNDS: u32 = 1_000_000;

/// Longer ones before those that they begin with.
const COMPARISONS: [(&str, Comparison); 7] = [
    (" == ", Comparison::Equal),
    (" != ", Comparison::NotEqual),
    (" <= ", Comparison::AtMost),
    (" >= ", Comparison::AtLeast),
    (" < ", Comparison::Less),
    (" > ", Comparison::Greater),
    (" contains ", Comparison::Contains),
];

/// Whether this is a way and no exchange.
pub(super) fn is_one(wire: &StepWire) -> bool {
    wire.mix.is_some() || wire.repeat.is_some() || wire.condition.is_some() || wire.group.is_some()
}

/// The pause that this is, if nothing else is written beside it.
pub(super) fn alone(wire: &StepWire) -> Option<Span> {
    let pause = wire.pause?;
    let methods = [
        &wire.get,
        &wire.head,
        &wire.post,
        &wire.put,
        &wire.patch,
        &wire.delete,
        &wire.options,
    ];
    methods
        .iter()
        .all(|method| method.is_none())
        .then(|| pause.span())
}

pub(super) fn convert(
    converter: &mut Converter<'_, '_>,
    wire: &StepWire,
    at: &Pointer,
) -> Option<Action<Template>> {
    refuse_other_keys(converter, wire, at);
    if let Some(choices) = &wire.mix {
        let at = at.key("mix");
        if choices.is_empty() {
            converter.refuse(&at, "has nothing to choose from");
            return None;
        }
        let mut converted = Vec::new();
        for (index, choice) in choices.iter().enumerate() {
            let at = at.index(index);
            let weight = choice.weight.unwrap_or(1);
            if weight == 0 {
                let message =
                    "is never chosen with a weight of 0: leave the choice out, or write 1 or more";
                converter.refuse(&at.key("weight"), message);
                return None;
            }
            let actions = converter.list(&choice.steps, &at.key("steps"));
            converted.push(Choice { weight, actions });
        }
        return Some(Action::Mix(converted));
    }
    let Some(steps) = wire.steps.as_ref().filter(|steps| !steps.is_empty()) else {
        converter.refuse(at, "has no `steps`: write at least one");
        return None;
    };
    let steps_at = at.key("steps");
    if let Some(times) = wire.repeat {
        if !(1..=MOST_ROUNDS).contains(&times) {
            let message = format!("is how often: write 1 to {MOST_ROUNDS}");
            converter.refuse(&at.key("repeat"), message);
            return None;
        }
        let actions = converter.list(steps, &steps_at);
        return Some(Action::Repeat { times, actions });
    }
    if let Some(name) = &wire.group {
        let places = (&at.key("group"), &steps_at);
        return Some(group(converter, name, steps, places));
    }
    let written = wire.condition.as_ref()?;
    let condition_at = at.key("if");
    let condition = condition(converter, written, &condition_at)?;
    converter.scenario.conditions.push(condition_at);
    let then = converter.list(steps, &steps_at);
    let otherwise = wire.otherwise.as_deref().unwrap_or_default();
    let otherwise = converter.list(otherwise, &at.key("else"));
    Some(Action::If {
        condition,
        then,
        otherwise,
    })
}

/// The steps under a name, given where both are written.
pub(super) fn group(
    converter: &mut Converter<'_, '_>,
    name: &str,
    steps: &[StepWire],
    (name_at, steps_at): (&Pointer, &Pointer),
) -> Action<Template> {
    let is_printable = !name.contains(char::is_control) && !name.contains(GROUP_SEPARATOR);
    if !is_printable || !(1..=LONGEST_NAME).contains(&name.chars().count()) {
        let message = format!(
            "cannot name a group: write 1 to {LONGEST_NAME} printable characters without `{GROUP_SEPARATOR}`, which stands between the names of groups within each other"
        );
        converter.refuse(name_at, message);
        converter.scenario.is_partial = true;
    }
    let path = group_path(&converter.within, name);
    if converter.scenario.groups.contains(&path) {
        let message = format!(
            "another group is called `{path}` already, and the figures of both would be one: choose another name"
        );
        converter.refuse(name_at, message);
    }
    converter.scenario.groups.push(path);
    converter.within.push(name.to_owned());
    let actions = converter.list(steps, steps_at);
    converter.within.pop();
    Action::Group {
        name: name.to_owned(),
        actions,
    }
}

fn condition(
    converter: &mut Converter<'_, '_>,
    written: &str,
    at: &Pointer,
) -> Option<Condition<Template>> {
    let found = COMPARISONS.iter().filter_map(|(sign, comparison)| {
        let at = written.find(sign)?;
        Some((at, *sign, *comparison))
    });
    let Some((place, sign, comparison)) = found.min_by_key(|(place, ..)| *place) else {
        let message = format!(
            "`{written}` compares nothing: write two texts with ` == `, ` != `, ` < `, ` <= `, ` > `, ` >= ` or ` contains ` between them, for instance `${{kind}} == gold`"
        );
        converter.refuse(at, message);
        return None;
    };
    let loader = &mut *converter.loader;
    Some(Condition {
        left: loader.template(at, written[..place].trim(), None),
        comparison,
        right: loader.template(at, written[place + sign.len()..].trim(), None),
    })
}

/// Whatever is written besides the way itself and its steps.
fn refuse_other_keys(converter: &mut Converter<'_, '_>, wire: &StepWire, at: &Pointer) {
    let ways = [
        ("mix", wire.mix.is_some()),
        ("repeat", wire.repeat.is_some()),
        ("if", wire.condition.is_some()),
        ("group", wire.group.is_some()),
    ];
    let mut written = ways
        .iter()
        .filter_map(|(key, is_written)| is_written.then_some(*key));
    let way = written.next().unwrap_or_default();
    let exchange = [
        ("get", wire.get.is_some()),
        ("head", wire.head.is_some()),
        ("post", wire.post.is_some()),
        ("put", wire.put.is_some()),
        ("patch", wire.patch.is_some()),
        ("delete", wire.delete.is_some()),
        ("options", wire.options.is_some()),
        ("name", wire.name.is_some()),
        ("query", wire.query.is_some()),
        ("headers", wire.headers.is_some()),
        ("auth", wire.auth.is_some()),
        ("body", wire.body.is_some()),
        ("body_file", wire.body_file.is_some()),
        ("json", wire.json.is_some()),
        ("form", wire.form.is_some()),
        ("multipart", wire.multipart.is_some()),
        ("timeout", wire.timeout.is_some()),
        ("pause", wire.pause.is_some()),
        ("redirects", wire.redirects.is_some()),
        ("check", wire.check.is_some()),
        ("extract", wire.extract.is_some()),
        ("steps", wire.steps.is_some() && way == "mix"),
        ("else", wire.otherwise.is_some() && way != "if"),
    ];
    let others = exchange
        .iter()
        .filter_map(|(key, is_written)| is_written.then_some(*key));
    for key in written.chain(others) {
        converter.loader.refuse_key(
            at.key(key),
            format!("cannot be combined with `{way}`: remove it, or put it into a step of its own"),
        );
    }
}
