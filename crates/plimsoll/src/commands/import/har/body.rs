//! Body of a recorded request: recorders write it as a text, in base64, or as the parameters of a form.

use super::wire::{Param, PostData, Request};
use crate::commands::import::draft::{Body, FormPart, literal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Body of a request in the words of the experiment file, and its type as far as the recorder states it.
///
/// # Errors
/// Why it cannot be sent again.
pub fn of(request: &Request) -> Result<(Body, &str), String> {
    let Some(data) = &request.post_data else {
        return Ok((Body::None, ""));
    };
    Ok((of_data(data)?, data.mime_type.as_str()))
}

fn of_data(data: &PostData) -> Result<Body, String> {
    let is_form_data = data
        .mime_type
        .to_ascii_lowercase()
        .starts_with("multipart/");
    if !data.text.is_empty() {
        let text = decoded(data)?;
        let text = if is_form_data {
            without_head(&text)
        } else {
            &text
        };
        return Ok(Body::Text(literal(text)));
    }
    if data.params.is_empty() {
        return Ok(Body::None);
    }
    let has_file = data.params.iter().any(|param| param.file_name.is_some());
    if is_form_data || has_file {
        let parts: Result<Vec<FormPart>, String> = data.params.iter().map(part).collect();
        return Ok(Body::Multipart(parts?));
    }
    // Recorded as they were sent: encoded already.
    let pairs = data.params.iter().map(|param| {
        format!(
            "{}={}",
            param.name,
            param.value.as_deref().unwrap_or_default()
        )
    });
    Ok(Body::Text(literal(&pairs.collect::<Vec<_>>().join("&"))))
}

fn decoded(data: &PostData) -> Result<String, String> {
    match data.encoding.to_ascii_lowercase().as_str() {
        "" => Ok(data.text.clone()),
        "base64" => {
            let bytes = STANDARD.decode(data.text.trim());
            let bytes = bytes.map_err(|error| format!("its body is no base64: {error}"))?;
            let length = bytes.len();
            String::from_utf8(bytes).map_err(|_| {
                format!("its body is {length} bytes that are no text: put them into a file and name it as `body_file`")
            })
        }
        other => Err(format!(
            "its body is recorded as {other}, which is unknown here"
        )),
    }
}

/// Firefox records the head of such a body with it: fields, and an empty line.
fn without_head(text: &str) -> &str {
    let is_head = text
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("content-"));
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
    body.filter(|_| is_head).unwrap_or(text)
}

fn part(param: &Param) -> Result<FormPart, String> {
    match (&param.value, &param.file_name) {
        (None, Some(file)) => Err(format!("the file `{file}` of its form was not recorded")),
        (value, filename) => Ok(FormPart {
            name: param.name.clone(),
            value: literal(value.as_deref().unwrap_or_default()),
            filename: filename.clone(),
            media_type: param.content_type.clone().filter(|kind| !kind.is_empty()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Result<Body, &str>) {
        let data = serde_json::from_str(json).unwrap();
        assert_eq!(of_data(&data), expected.map_err(str::to_owned), "{json}");
    }

    fn text(text: &str) -> Result<Body, &'static str> {
        Ok(Body::Text(text.to_owned()))
    }

    #[test]
    fn bodies_are_read_as_recorders_write_them() {
        check("{}", Ok(Body::None));
        check(
            r#"{ "text": "", "params": null, "mimeType": null }"#,
            Ok(Body::None),
        );
        check(
            r#"{ "text": "a=$1", "params": [{ "name": "a", "value": "$1" }] }"#,
            text("a=$$1"),
        );
        check(
            r#"{ "params": [{ "name": "a" }, { "name": "b", "value": "%20" }] }"#,
            text("a=&b=%20"),
        );
        check(r#"{ "text": "w6k=", "encoding": "base64" }"#, text("é"));
        check(
            r#"{ "text": "/w==", "encoding": "base64" }"#,
            Err(
                "its body is 1 bytes that are no text: put them into a file and name it as `body_file`",
            ),
        );
        check(
            r#"{ "text": "x", "encoding": "rot13" }"#,
            Err("its body is recorded as rot13, which is unknown here"),
        );
    }

    #[test]
    fn forms_in_parts_are_taken_over() {
        let firefox = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n\r\n--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--";
        let json =
            serde_json::json!({ "mimeType": "multipart/form-data; boundary=x", "text": firefox });
        check(
            &json.to_string(),
            text("--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--"),
        );
        check(
            r#"{ "mimeType": "multipart/form-data", "params": [{ "name": "a", "value": "1" },
                { "name": "f", "value": "x", "fileName": "f.txt", "contentType": "text/plain" }] }"#,
            Ok(Body::Multipart(vec![
                FormPart {
                    name: "a".to_owned(),
                    value: "1".to_owned(),
                    ..FormPart::default()
                },
                FormPart {
                    name: "f".to_owned(),
                    value: "x".to_owned(),
                    filename: Some("f.txt".to_owned()),
                    media_type: Some("text/plain".to_owned()),
                },
            ])),
        );
        check(
            r#"{ "mimeType": "multipart/form-data", "params": [{ "name": "f", "fileName": "f.txt" }] }"#,
            Err("the file `f.txt` of its form was not recorded"),
        );
    }
}
