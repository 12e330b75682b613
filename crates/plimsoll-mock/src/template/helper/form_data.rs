//! `formData text 'name' urlDecode=`: the fields of a form under a name.

use super::{Helper, Invocation, Outcome};
use crate::parameters;
use crate::template::value::Value;
use std::borrow::Cow;
use std::rc::Rc;

pub(super) const HELPERS: &[Helper] = &[Helper::new("formData", form_data)];

fn form_data<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    let decodes = invocation.option("urlDecode").is_some_and(Value::says_yes);
    let named = invocation.text(usize::from(!invocation.arguments.is_empty()), "the name");
    let mut fields: Vec<(Cow<'a, str>, Vec<Cow<'a, str>>)> = Vec::new();
    for pair in subject.print().split('&') {
        let Some((name, value)) = pair.split_once('=') else {
            continue;
        };
        let value = if decodes {
            parameters::decode(value).into_owned()
        } else {
            value.to_owned()
        };
        match fields.iter_mut().find(|(own, _)| own == name) {
            Some((_, values)) => values.push(value.into()),
            None => fields.push((name.to_owned().into(), vec![value.into()])),
        }
    }
    let fields = fields
        .into_iter()
        .map(|(name, values)| (name, Value::Several(Rc::from(values))));
    let form = Value::Map(fields.collect());
    match named {
        Ok(name) => {
            invocation.renderer.scopes.assign(&name, form);
            Ok(Value::Nothing)
        }
        Err(_) => Ok(form),
    }
}
