//! `stripTags text`, `wordWrap text length`: a text without markup, a text in lines.

use super::{Failure, Helper, Invocation, Outcome, integer};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[
    Helper::new("stripTags", strip_tags),
    Helper::new("wordWrap", word_wrap),
];

fn strip_tags<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.subject()?.print().into_owned();
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('<') {
        let Some((_, after)) = after.split_once('>') else {
            break;
        };
        kept.push_str(before);
        rest = after;
    }
    Ok(Value::text(kept + rest))
}

/// Words that are longer than a line are left whole.
fn word_wrap<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let text = invocation.argument(0).print().into_owned();
    let most = usize::try_from(integer(&invocation.argument(1))?)
        .unwrap_or(1)
        .max(1);
    if text.is_empty() {
        return Err(Failure::Own("the text is missing".to_owned()));
    }
    let chars: Vec<char> = text.chars().collect();
    let is_space = |place: &usize| chars[*place] == ' ';
    let mut out = String::new();
    let mut start = 0;
    while chars.len() - start > most {
        if is_space(&start) {
            start += 1;
            continue;
        }
        let last = (start..=start + most).rev().find(is_space);
        let Some(space) = last.or_else(|| (start + most..chars.len()).find(is_space)) else {
            break;
        };
        out.extend(&chars[start..space]);
        out.push('\n');
        start = space + 1;
    }
    out.extend(&chars[start..]);
    Ok(Value::text(out))
}
