//! Data of curl's `--data…` options: pieces joined by `&`, some of them encoded first, some of them from files.

/// The body so far; `None` before the first piece.
#[derive(Debug, Default)]
pub struct Data(Option<String>);

pub type Read<'a> = &'a dyn Fn(&str) -> Result<String, String>;

impl Data {
    /// A piece as it is.
    pub fn add(&mut self, piece: String) {
        match &mut self.0 {
            Some(data) => {
                data.push('&');
                data.push_str(&piece);
            }
            None => self.0 = Some(piece),
        }
    }

    /// `--data`: `@file` is its content without line ends.
    pub fn add_text(&mut self, value: &str, read: Read<'_>) -> Result<(), String> {
        self.add(match value.strip_prefix('@') {
            Some(file) => read(file)?.replace(['\r', '\n'], ""),
            None => value.to_owned(),
        });
        Ok(())
    }

    /// `--data-binary`: `@file` is its content.
    pub fn add_binary(&mut self, value: &str, read: Read<'_>) -> Result<(), String> {
        self.add(match value.strip_prefix('@') {
            Some(file) => read(file)?,
            None => value.to_owned(),
        });
        Ok(())
    }

    /// `--json`: like `--data-binary`, but pieces follow each other directly.
    pub fn add_json(&mut self, value: &str, read: Read<'_>) -> Result<(), String> {
        let before = self.0.take().unwrap_or_default();
        self.add_binary(value, read)?;
        let piece = self.0.take().unwrap_or_default();
        self.0 = Some(before + &piece);
        Ok(())
    }

    /// `--data-urlencode`: `content`, `=content`, `name=content`, `@file`, `name@file`; the content is encoded, the name is not.
    pub fn add_encoded(&mut self, value: &str, read: Read<'_>) -> Result<(), String> {
        let at = value.find(['=', '@']);
        let (name, content) = match at.map(|at| (&value[..at], &value[at..])) {
            Some((name, rest)) if rest.starts_with('=') => (name, rest[1..].to_owned()),
            Some((name, rest)) => (name, read(&rest[1..])?),
            None => ("", value.to_owned()),
        };
        let encoded = percent_encoded(&content);
        self.add(if name.is_empty() {
            encoded
        } else {
            format!("{name}={encoded}")
        });
        Ok(())
    }

    /// Everything, in order.
    pub fn into_text(self) -> Option<String> {
        self.0
    }
}

/// As curl does it: everything but RFC 3986's unreserved characters, a space as a plus.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else if byte == b' ' {
            encoded.push('+');
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
