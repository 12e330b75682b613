//! `now offset= timezone= format=`, `date moment offset= format=`, `parseDate text format=`: moments and how they are shown.

use super::{Failure, Helper, Invocation, Outcome};
use crate::java::date_time::{self, Format, Moment};
use crate::java::time_format;
use crate::template::value::Value;
use jiff::tz::TimeZone;
use std::rc::Rc;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("now", now),
    Helper::new("date", date),
    Helper::new("parseDate", parse_date),
    Helper::new("dateFormat", date_format),
];

fn now<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let zone = match invocation.option("timezone") {
        None => TimeZone::UTC,
        Some(name) => {
            let name = name.print();
            TimeZone::get(&name)
                .map_err(|_| Failure::Own(format!("`{name}` is no time zone known here")))?
        }
    };
    let now = invocation.renderer.scopes.model().now.to_zoned(zone);
    shown(&invocation, Moment::Zoned(now))
}

/// A text that is no moment is now, as in WireMock.
fn date<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    match invocation.argument(0) {
        Value::Moment(moment, _) => shown(&invocation, (*moment).clone()),
        _ => now(invocation),
    }
}

fn shown<'a>(invocation: &Invocation<'_, 'a>, moment: Moment) -> Outcome<'a> {
    let moment = match invocation.option("offset") {
        None => moment,
        Some(offset) => {
            let offset = offset.print();
            let span = date_time::span(&offset).ok_or_else(|| {
                let example = "write an amount and a unit, as in 3 days";
                Failure::Own(format!("`{offset}` is no offset: {example}"))
            })?;
            let moved = moment.plus(span);
            moved.ok_or_else(|| Failure::Own("beyond the calendar".to_owned()))?
        }
    };
    let format = invocation.option("format");
    let format: Option<Rc<str>> = format.map(|format| Rc::from(&*format.print()));
    // A pattern that cannot be shown is told now, not where it is printed.
    time_format::show(&moment, format.as_deref())?;
    Ok(Value::Moment(Rc::new(moment), format))
}

fn date_format<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.argument(0);
    let Value::Moment(moment, _) = subject else {
        return Err(Failure::Own(format!("`{}` is no moment", subject.print())));
    };
    let format = match (invocation.argument(1), invocation.option("format")) {
        (Value::Nothing, None) => "medium".to_owned(),
        (Value::Nothing, Some(format)) => format.print().into_owned(),
        (format, _) => format.print().into_owned(),
    };
    let format = match &*format {
        "full" => "EEEE, MMMM d, yyyy",
        "long" => "MMMM d, yyyy",
        "medium" => "MMM d, yyyy",
        "short" => "M/d/yy",
        pattern => pattern,
    };
    Ok(Value::text(time_format::show(&moment, Some(format))?))
}

/// A text that cannot be read is nothing, as in WireMock.
fn parse_date<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.text(0, "the text")?;
    let format = match invocation.option("format") {
        None => Format::Known,
        Some(format) => Format::compile(&format.print())?,
    };
    let parsed = format.parse(&text);
    Ok(parsed.map_or(Value::Nothing, |moment| {
        Value::Moment(Rc::new(moment), None)
    }))
}
