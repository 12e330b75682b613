//! In which form an error is told: as the request's own `Content-Type` is.

use plimsoll_http::Fields;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Xml,
    TextXml,
    SoapXml,
}

impl Media {
    /// Of a request with these fields. To Tyk the name ends at the first `;` and is spelled in one way.
    pub(crate) fn of(fields: &Fields) -> Self {
        let name = fields.get("content-type").unwrap_or_default();
        match name.split(|byte| *byte == b';').next() {
            Some(b"application/xml") => Self::Xml,
            Some(b"text/xml") => Self::TextXml,
            Some(b"application/soap+xml") => Self::SoapXml,
            _ => Self::Json,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "application/xml",
            Self::TextXml => "text/xml",
            Self::SoapXml => "application/soap+xml",
        }
    }

    /// That of a body which a rule brings: Tyk tells SOAP's from JSON in its own template alone.
    pub(super) fn of_body(self) -> Self {
        match self {
            Self::SoapXml => Self::Json,
            other => other,
        }
    }

    pub(super) fn is_xml(self) -> bool {
        self != Self::Json
    }
}
