//! Names of keys that the gateway makes, in Tyk's two forms. Source: Tyk 5.15, `internal/crypto/token.go` (`GenerateToken`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

/// The two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The organisation, then the id.
    Plain,
    /// It says which is which, and how it is hashed.
    SelfDescribing,
}

/// The name of the key of an organisation that has this id.
pub(crate) fn name(organisation: &str, id: &str, form: Form) -> String {
    match form {
        Form::Plain => format!("{organisation}{id}"),
        Form::SelfDescribing => {
            STANDARD.encode(json!({ "org": organisation, "id": id, "h": "sha256" }).to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        assert_eq!(name("org", "1f", Form::Plain), "org1f");
        assert_eq!(name("", "1f", Form::Plain), "1f");
        let described = STANDARD.decode(name("org", "1f", Form::SelfDescribing));
        let described: serde_json::Value = serde_json::from_slice(&described.unwrap()).unwrap();
        assert_eq!(
            described,
            json!({ "org": "org", "id": "1f", "h": "sha256" })
        );
    }
}
