//! With what calls are signed: credentials that were read with the configuration, or those that a container's host hands out.

use crate::bounds::{ANSWER, PATIENCE};
use crate::secret::Secret;
use plimsoll_files::Limit;
use plimsoll_http::{Call, Url, call};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The configuration, its files, or the environment.
    Known(Credentials),
    /// The container's host: asked before each call, as they are short-lived.
    Container {
        /// Where they are asked for.
        url: Url,
        /// `Authorization` for it.
        token: Option<Token>,
    },
}

/// Token that a container shows to its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// This.
    Text(Secret),
    /// The content of this file by then: it is short-lived, too (EKS writes it anew).
    File(PathBuf),
}

/// Credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The key's id.
    pub access_key: Secret,
    /// The key, which signs.
    pub secret_key: Secret,
    /// The session's token, of credentials that are short-lived.
    pub session_token: Option<Secret>,
}

/// Credentials as they are now, in plain text.
pub(crate) struct Plain {
    pub(crate) access_key: Arc<str>,
    pub(crate) secret_key: Arc<str>,
    pub(crate) session_token: Option<Arc<str>>,
}

impl Source {
    /// The credentials for a call, or why there are none.
    pub(crate) async fn now(&self) -> Result<Plain, String> {
        match self {
            Self::Known(known) => known.plain(),
            Self::Container { url, token } => {
                let said = |why| format!("the container's credentials: {why}");
                let token = (token.as_ref().map(Token::read).transpose()).map_err(said)?;
                ask_host(url, token.as_deref()).await.map_err(said)
            }
        }
    }
}

impl Token {
    fn read(&self) -> Result<Arc<str>, String> {
        match self {
            Self::Text(secret) => secret
                .reveal()
                .ok_or_else(|| "the token is withheld".to_owned()),
            Self::File(path) => {
                let text = plimsoll_files::read_text(path, Limit::DOCUMENT);
                let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(text.trim().into())
            }
        }
    }
}

impl Credentials {
    fn plain(&self) -> Result<Plain, String> {
        let read = |secret: &Secret| secret.reveal().ok_or("a credential is withheld");
        Ok(Plain {
            access_key: read(&self.access_key)?,
            secret_key: read(&self.secret_key)?,
            session_token: self.session_token.as_ref().map(read).transpose()?,
        })
    }
}

/// Asks the container's host, as AWS' SDKs do ("Container credential provider", AWS SDKs and Tools Reference Guide).
async fn ask_host(url: &Url, token: Option<&str>) -> Result<Plain, String> {
    let fields: Vec<_> = (token.iter())
        .map(|token| ("Authorization", (*token).to_owned()))
        .collect();
    let answer = call(&Call {
        method: "GET",
        url,
        fields: &fields,
        body: &[],
        authorities: None,
        patience: PATIENCE,
        limits: ANSWER,
    })
    .await?;
    if answer.status != 200 {
        return Err(format!("{} answers {}", url.authority, answer.status));
    }
    let told: Value = serde_json::from_slice(&answer.body.unwrap_or_default())
        .map_err(|_| format!("{} does not answer with JSON", url.authority))?;
    let part = |name: &str| told.get(name).and_then(Value::as_str).map(Arc::from);
    let missing = |name: &str| format!("{} does not say `{name}`", url.authority);
    Ok(Plain {
        access_key: part("AccessKeyId").ok_or_else(|| missing("AccessKeyId"))?,
        secret_key: part("SecretAccessKey").ok_or_else(|| missing("SecretAccessKey"))?,
        session_token: part("Token"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// Result of a host that answers this to a container with such a token; and the request that it got.
    async fn asked(token: Token, answer: &str) -> (Result<Plain, String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let source = Source::Container {
            url: Url::parse(&format!("http://{address}/v2/credentials/7")).unwrap(),
            token: Some(token),
        };
        let host = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(head).unwrap()
        };
        tokio::join!(source.now(), host)
    }

    #[tokio::test]
    async fn a_containers_host_hands_out_credentials() {
        let body = r#"{"AccessKeyId":"a","SecretAccessKey":"s","Token":"t","Expiration":"2030-01-01T00:00:00Z"}"#;
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        let (found, head) = asked(Token::Text("of-the-container".into()), &answer).await;
        let found = found.unwrap_or_else(|why| panic!("{why}"));
        let token = found.session_token.as_deref();
        assert_eq!(
            (&*found.access_key, &*found.secret_key, token),
            ("a", "s", Some("t"))
        );
        assert!(
            head.starts_with("GET /v2/credentials/7 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(
            head.contains("\r\nAuthorization: of-the-container\r\n"),
            "{head}"
        );
    }

    #[tokio::test]
    async fn a_host_that_has_none_is_named() {
        let (found, _) = asked(
            Token::Text("any".into()),
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        )
        .await;
        let why = found.map(|_| ()).unwrap_err();
        assert!(
            why.starts_with("the container's credentials: 127.0.0.1:")
                && why.ends_with(" answers 404"),
            "{why}"
        );
    }

    #[tokio::test]
    async fn a_token_in_a_file_is_read_before_each_call() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        for token in ["the-first", "the-second"] {
            std::fs::write(&file, format!("{token}\n")).unwrap();
            let (_, head) = asked(
                Token::File(file.clone()),
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            )
            .await;
            let field = format!("\r\nAuthorization: {token}\r\n");
            assert!(head.contains(&field), "{head}");
        }
        std::fs::remove_file(&file).unwrap();
        let source = Source::Container {
            url: Url::parse("http://127.0.0.1:9/").unwrap(),
            token: Some(Token::File(file.clone())),
        };
        let why = source.now().await.map(|_| ()).unwrap_err();
        let expected = format!("the container's credentials: {}: No such", file.display());
        assert!(why.starts_with(&expected), "{why}");
    }
}
