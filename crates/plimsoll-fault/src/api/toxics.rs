//! Toxics as the API reads and writes them.

use crate::direction::Direction;
use crate::error::ApiError;
use crate::go_json::{self, Object};
use crate::toxic::{Effect, Toxic, Toxics, effect};
use serde_json::{Map, Value, json};

/// Fields that the API says of a toxic and that cannot be changed.
pub const ECHOED: &[&str] = &["name", "type", "stream"];

/// Those of a proxy, the upstream ones first.
pub fn list(toxics: &Toxics) -> Value {
    toxics.iter().map(|known| toxic(known)).collect()
}

/// One.
pub fn toxic(toxic: &Toxic) -> Value {
    let attributes = toxic.effect.values().into_iter();
    let attributes = attributes.map(|(name, value)| (name.to_owned(), value.into()));
    json!({
        "attributes": attributes.collect::<Map<_, _>>(),
        "name": toxic.name,
        "type": toxic.effect.type_name(),
        "stream": toxic.stream,
        "toxicity": share(toxic.toxicity),
    })
}

/// As Go writes a `float32`: whole numbers without a point.
fn share(toxicity: f32) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether it is whole is asked"
    )]
    let whole = toxicity as i64;
    #[expect(clippy::cast_precision_loss, reason = "and this is the answer")]
    match whole as f32 == toxicity {
        true => whole.into(),
        // By its shortest text, which is not that of the double next to it.
        false => toxicity.to_string().parse::<f64>().unwrap_or(0.0).into(),
    }
}

/// A toxic that an object asks for.
pub fn new(object: &mut Object<'_>) -> Result<Toxic, ApiError> {
    let name = object.string("name")?;
    let type_name = object.string("type")?.unwrap_or_default();
    let stream = object.string("stream")?;
    let stream = stream.unwrap_or_else(|| Direction::Downstream.name().to_owned());
    let toxicity = object.float("toxicity")?.unwrap_or(1.0);
    let direction = Direction::named(&stream).ok_or_else(ApiError::invalid_stream)?;
    let mut effect = effect(&type_name).ok_or_else(ApiError::invalid_type)?;
    set(&mut *effect, object)?;
    refuse_part(&*effect, toxicity)?;
    Ok(Toxic {
        name: name
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("{type_name}_{stream}")),
        stream,
        direction,
        toxicity,
        effect,
        turn: 0,
    })
}

/// A toxic with the attributes and the toxicity that an object asks for.
pub fn changed(known: &Toxic, object: &mut Object<'_>) -> Result<Toxic, ApiError> {
    let mut effect = known.effect.copy();
    set(&mut *effect, object)?;
    let toxicity = object.float("toxicity")?.unwrap_or(known.toxicity);
    refuse_part(&*effect, toxicity)?;
    Ok(Toxic {
        name: known.name.clone(),
        stream: known.stream.clone(),
        direction: known.direction,
        toxicity,
        effect,
        turn: known.turn,
    })
}

/// A listener is open or closed: there is nothing between.
fn refuse_part(effect: &dyn Effect, toxicity: f32) -> Result<(), ApiError> {
    match effect.reach().refuses && toxicity < 1.0 {
        true => Err(ApiError::unsupported(
            "toxicity of refuse was invalid, it works on all connections: write 1",
        )),
        false => Ok(()),
    }
}

/// Sets the attributes of an object; unknown ones are ignored, as unknown fields are.
fn set(effect: &mut dyn Effect, object: &mut Object<'_>) -> Result<(), ApiError> {
    let Some(attributes) = object.get("attributes") else {
        return Ok(());
    };
    let Value::Object(attributes) = attributes else {
        return Err(ApiError::bad_body(format_args!(
            "json: cannot unmarshal attributes of {}: they are not an object",
            effect.type_name()
        )));
    };
    let known = effect.values();
    for (name, value) in attributes.iter().filter(|(_, value)| !value.is_null()) {
        let is_known = |(known, _): &(&str, i64)| known.eq_ignore_ascii_case(name);
        if let Some((known, _)) = known.iter().find(|known| is_known(known)) {
            effect.set(
                known,
                go_json::integer(value, &format!(".attributes.{known}"))?,
            );
        }
    }
    Ok(())
}
