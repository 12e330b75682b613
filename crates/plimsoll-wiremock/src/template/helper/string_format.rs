//! `stringFormat format values…`: Java's `String.format` with `%s %S %d %x %X %o %f %e %c %b %n %%`, flags `-+ 0,(#`, width, precision and positions.

use super::number_format::{Rounding, grouped, rounded};
use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;

/// Characters that a width or a precision may ask for.
const WIDEST: usize = 10_000;

pub(super) const HELPERS: &[Helper] = &[Helper::new("stringFormat", string_format)];

/// One `%…` of a format.
#[derive(Debug, Default)]
struct Specifier {
    /// From 1; the next one without it.
    position: Option<usize>,
    flags: String,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

fn string_format<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let format = invocation.argument(0).print().into_owned();
    let (mut out, mut made) = (String::new(), 0);
    let mut rest = format.as_str();
    let mut next = 1;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let (specifier, after) = Specifier::read(after).map_err(Failure::Own)?;
        rest = after;
        match specifier.conversion {
            'n' => out.push('\n'),
            '%' => out.push_str(&specifier.padded("%")),
            _ => {
                let position = specifier.position.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                let value = invocation.arguments.get(position);
                let missing =
                    || Failure::Own(format!("there is no value for `%{}`", specifier.conversion));
                let value = value.ok_or_else(missing)?;
                let text = specifier.convert(value).map_err(Failure::Own)?;
                out.push_str(&specifier.padded(&text));
            }
        }
        invocation.renderer.make(out.len() - made)?;
        made = out.len();
    }
    out.push_str(rest);
    Ok(Value::text(out))
}

impl Specifier {
    /// The format behind a `%`, and the text after it.
    fn read(text: &str) -> Result<(Self, &str), String> {
        let mut specifier = Self::default();
        let mut rest = text;
        if let Some((digits, after)) = rest.split_once('$')
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            specifier.position = digits.parse().ok();
            rest = after;
        }
        let flags = rest.find(|c| !"-#+ 0,(".contains(c)).unwrap_or(rest.len());
        specifier.flags = rest[..flags].to_owned();
        rest = &rest[flags..];
        (specifier.width, rest) = number(rest);
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = number(after);
            specifier.precision = Some(precision);
            rest = after;
        }
        if specifier.width > WIDEST
            || specifier
                .precision
                .is_some_and(|precision| precision > WIDEST)
        {
            return Err(format!("a width is at most {WIDEST}"));
        }
        let mut chars = rest.chars();
        specifier.conversion = chars.next().ok_or("a `%` without a conversion")?;
        Ok((specifier, chars.as_str()))
    }

    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    fn convert(&self, value: &Value<'_>) -> Result<String, String> {
        let conversion = self.conversion;
        let text = match conversion.to_ascii_lowercase() {
            's' => {
                let text = if value.is_nothing() {
                    "null".into()
                } else {
                    value.print()
                };
                let most = self.precision.unwrap_or(usize::MAX);
                text.chars().take(most).collect()
            }
            'b' => match value {
                Value::Nothing => "false".to_owned(),
                Value::Bool(value) => value.to_string(),
                _ => "true".to_owned(),
            },
            'c' => value.print().chars().next().unwrap_or(' ').to_string(),
            'd' => self.signed(value, 0)?,
            'f' => self.signed(value, self.precision.unwrap_or(6))?,
            'x' | 'o' => {
                let Value::Integer(number) = value else {
                    return Err(format!(
                        "`%{conversion}` needs a whole number, not {}",
                        value.print()
                    ));
                };
                if conversion == 'o' {
                    format!("{number:o}")
                } else {
                    format!("{number:x}")
                }
            }
            'e' => {
                let number = decimal_of(value, conversion)?;
                let text = format!("{number:.*e}", self.precision.unwrap_or(6));
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, digits) = exponent
                    .strip_prefix('-')
                    .map_or(('+', exponent), |digits| ('-', digits));
                format!("{mantissa}e{sign}{digits:0>2}")
            }
            _ => {
                return Err(format!(
                    "`%{conversion}` is no conversion that is available"
                ));
            }
        };
        Ok(if conversion.is_ascii_uppercase() {
            text.to_uppercase()
        } else {
            text
        })
    }

    /// A number with its sign, so many digits after the point.
    fn signed(&self, value: &Value<'_>, digits: usize) -> Result<String, String> {
        let text = match (value, self.conversion) {
            (Value::Integer(number), 'd') => number.to_string(),
            (_, 'd') => return Err(format!("`%d` needs a whole number, not {}", value.print())),
            _ => rounded(
                &decimal_of(value, 'f')?.to_string(),
                digits,
                Rounding::HalfUp,
            ),
        };
        let (negative, unsigned) = text
            .strip_prefix('-')
            .map_or((false, &*text), |unsigned| (true, unsigned));
        let mut unsigned = unsigned.to_owned();
        if self.has(',') {
            unsigned = grouped(&unsigned, 3);
        }
        let (before, after) = match negative {
            true if self.has('(') => ("(", ")"),
            true => ("-", ""),
            false if self.has('+') => ("+", ""),
            false if self.has(' ') => (" ", ""),
            false => ("", ""),
        };
        let missing = self
            .width
            .saturating_sub(before.len() + unsigned.len() + after.len());
        let zeros = if self.has('0') {
            "0".repeat(missing)
        } else {
            String::new()
        };
        Ok(format!("{before}{zeros}{unsigned}{after}"))
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width;
        if self.has('-') {
            format!("{text:<width$}")
        } else {
            format!("{text:>width$}")
        }
    }
}

fn number(text: &str) -> (usize, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (text[..end].parse().unwrap_or(0), &text[end..])
}

fn decimal_of(value: &Value<'_>, conversion: char) -> Result<f64, String> {
    match value {
        Value::Decimal(number) => Ok(*number),
        value => Err(format!(
            "`%{conversion}` needs a decimal number, not {}",
            value.print()
        )),
    }
}
