//! Values of secrets: files and variables are read, and those that AWS keeps are noted for the refresher.

use super::super::surroundings::Surroundings;
use super::super::wire::secrets::{AwsBlock, CredentialsBlock, SecretText, SecretsBlock};
use super::Checker;
use plimsoll_base::document::{Document, Path, Problem, Problems};
use plimsoll_http::Url;
use plimsoll_secrets::Secret;
use plimsoll_secrets::Times;
use plimsoll_secrets::credentials::{self, Credentials, Token};
use plimsoll_secrets::{CachedSecret, Purpose};
use plimsoll_secrets::{Keeping, MOST, Settings};
use plimsoll_secrets::{Reference, Source};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Names of AWS' own variables.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const ENDPOINT: &str = "AWS_ENDPOINT_URL_SECRETS_MANAGER";

/// Secrets of a document, as they are come upon.
#[derive(Debug, Default)]
pub(crate) struct FoundSecrets {
    /// Where secrets of AWS are asked for, if nothing is said.
    pub(super) region: Option<String>,
    pub(super) endpoint: Option<Url>,
    /// Secrets of AWS and where they are wanted.
    pub(super) wanted: Vec<(Arc<CachedSecret>, Problem)>,
}

/// Secrets by their paths, and what of them is to be kept fresh.
pub(crate) type OfAnother = (Vec<(Path, Secret)>, Option<Keeping>);

/// Secrets of a document that is not `gateway.yaml`, by their paths, and what of them is to be kept fresh: with what the environment says
/// about AWS.
///
/// # Errors
/// Every problem of them.
pub(crate) fn of_another(
    document: &Document,
    around: Surroundings<'_>,
    written: &[(Path, SecretText)],
    purpose: Purpose,
) -> Result<OfAnother, Problems> {
    let mut c = Checker {
        document,
        around,
        problems: Vec::new(),
        further: 0,
        found: FoundSecrets::default(),
    };
    places(&mut c, None);
    let secrets = (written.iter())
        .filter_map(|(at, text)| Some((at.clone(), secret(&mut c, at, text, purpose)?)))
        .collect();
    let keeping = keeping(&mut c, None);
    c.into_problems().or_ok((secrets, keeping))
}

/// Address of AWS' service for secrets; comes before any secret.
pub(super) fn places(c: &mut Checker<'_>, block: Option<&SecretsBlock>) {
    let written = block.and_then(|block| block.region.clone());
    let variables = || REGIONS.iter().find_map(|name| variable(c.around, name));
    c.found.region = written.or_else(variables);
    let at = Path::root().key("secrets").key("endpoint");
    let endpoint = block.and_then(|block| block.endpoint.clone());
    let endpoint = endpoint.or_else(|| variable(c.around, ENDPOINT));
    let Some(text) = endpoint else {
        return;
    };
    let in_clear = block.is_some_and(|block| block.clear);
    match Url::parse(&text) {
        Err(why) => c.refuse(at, why),
        Ok(url) if url.target != "/" => {
            c.refuse(at, "the API is at `/`: write scheme, host and port alone");
        }
        Ok(url) if url.scheme == "http" && !is_loopback(&url.host) && !in_clear => {
            let message = format!(
                "`{text}` is in plaintext and not on loopback: write `https://…`, or `clear: true` if secrets may be seen on the way"
            );
            c.refuse(at, message);
        }
        Ok(url) => c.found.endpoint = Some(url),
    }
}

/// A secret that stands at `at`.
pub(super) fn secret(
    c: &mut Checker<'_>,
    at: &Path,
    written: &SecretText,
    purpose: Purpose,
) -> Option<Secret> {
    let block = match written {
        SecretText::Plain(text) => return Some(text.as_str().into()),
        SecretText::Elsewhere(block) => block,
    };
    match (&block.file, &block.env, &block.aws) {
        (Some(file), None, None) => {
            let at = at.key("file");
            let text = from_file(c, &at, file)?;
            fit(c, &at, text, purpose)
        }
        (None, Some(name), None) => {
            let at = at.key("env");
            let Some(text) = variable(c.around, name) else {
                let message =
                    format!("the environment has no `{name}`: set it, or write `file: …`");
                c.refuse(&at, message);
                return None;
            };
            fit(c, &at, text, purpose)
        }
        (None, None, Some(aws)) => from_aws(c, &at.key("aws"), aws, purpose),
        _ => {
            c.refuse(
                at,
                "a secret is kept in one place: write one of `file`, `env` and `aws`",
            );
            None
        }
    }
}

/// How what AWS keeps is kept fresh.
pub(super) fn keeping(c: &mut Checker<'_>, block: Option<&SecretsBlock>) -> Option<Keeping> {
    let at = Path::root().key("secrets");
    let default = SecretsBlock::default();
    let written = block.unwrap_or(&default);
    let duration = |written: Option<_>, default| super::duration(written, default);
    let times = Times {
        ttl: duration(written.ttl, Duration::from_secs(300)),
        stale: duration(written.stale, Duration::from_secs(3600)),
        wait: duration(written.wait, Duration::from_secs(10)),
    };
    if times.ttl.is_zero() {
        c.refuse(
            at.key("ttl"),
            "0 would ask without a pause: write for instance `5m`",
        );
    }
    let authorities = (written.ca.as_ref()).and_then(|file| authorities(c, &at.key("ca"), file));
    let stated =
        (written.credentials.as_ref()).map(|block| stated(c, &at.key("credentials"), block));
    if c.found.wanted.is_empty() {
        return None;
    }
    if c.found.wanted.len() > MOST {
        let message = format!("more than {MOST} places want a secret of AWS'");
        c.refuse(&at, message);
    }
    let credentials = match stated {
        Some(stated) => stated?,
        None => surrounding(c)?,
    };
    Some(Keeping {
        settings: Arc::new(Settings {
            credentials,
            authorities,
            times,
        }),
        wanted: std::mem::take(&mut c.found.wanted),
    })
}

fn variable(around: Surroundings<'_>, name: &str) -> Option<String> {
    (around.variables)(name).filter(|value| !value.is_empty())
}

fn from_file(c: &mut Checker<'_>, at: &Path, file: &str) -> Option<String> {
    let bytes = c.read(at, file)?;
    let Ok(mut text) = String::from_utf8(bytes) else {
        c.refuse(at, format!("`{file}` is not text in UTF-8"));
        return None;
    };
    if text.ends_with('\n') {
        text.pop();
        text.truncate(text.strip_suffix('\r').unwrap_or(&text).len());
    }
    Some(text)
}

fn fit(c: &mut Checker<'_>, at: &Path, text: String, purpose: Purpose) -> Option<Secret> {
    if let Some(why) = purpose.objection(&text) {
        c.refuse(at, format!("what is there does not do here: {why}"));
        return None;
    }
    Some(text.into())
}

fn from_aws(c: &mut Checker<'_>, at: &Path, block: &AwsBlock, purpose: Purpose) -> Option<Secret> {
    let secret = &block.secret;
    if secret.is_empty() || secret.len() > 2048 {
        let message = "write the secret's name or ARN, of at most 2048 characters";
        c.refuse(at.key("secret"), message);
        return None;
    }
    let Some(region) = region_of(secret).or_else(|| c.found.region.clone()) else {
        let message = "in which region is not known: write `secrets.region` or the secret's ARN, or set AWS_REGION";
        c.refuse(at.key("secret"), message);
        return None;
    };
    let endpoint = match &c.found.endpoint {
        Some(endpoint) => endpoint.clone(),
        None => match own_endpoint(&region) {
            Ok(endpoint) => endpoint,
            Err(why) => {
                c.refuse(at.key("secret"), why);
                return None;
            }
        },
    };
    let source = Source {
        secret: secret.clone(),
        region,
        endpoint,
    };
    let key = block.key.clone();
    let kept = Arc::new(CachedSecret::new(Reference { source, key }, purpose));
    let place = c.document.problem(at.key("secret"), "");
    c.found.wanted.push((Arc::clone(&kept), place));
    Some(Secret::Cached(kept))
}

/// `arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME`.
fn region_of(secret: &str) -> Option<String> {
    let mut parts = secret.strip_prefix("arn:")?.split(':');
    let (_partition, service) = (parts.next()?, parts.next()?);
    let region = parts.next()?;
    (service == "secretsmanager" && !region.is_empty()).then(|| region.to_owned())
}

/// AWS' own endpoint of a region ("AWS service endpoints", AWS General Reference); China has a domain of its own.
fn own_endpoint(region: &str) -> Result<Url, String> {
    let is_label = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if region.is_empty() || !region.chars().all(is_label) {
        return Err(format!(
            "`{region}` is not a region: write for instance `eu-central-1`"
        ));
    }
    let domain = match region.starts_with("cn-") {
        true => "amazonaws.com.cn",
        false => "amazonaws.com",
    };
    Url::parse(&format!("https://secretsmanager.{region}.{domain}"))
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn authorities(c: &mut Checker<'_>, at: &Path, file: &str) -> Option<String> {
    let text = c.read_text(at, file)?;
    if let Err(error) = plimsoll_http::tls::certificates(&text) {
        c.refuse(at, format!("`{file}` {error}"));
    }
    Some(text)
}

/// The credentials of the configuration, which are not themselves asked for.
fn stated(c: &mut Checker<'_>, at: &Path, block: &CredentialsBlock) -> Option<credentials::Source> {
    let mut read = |name: &str, written: &SecretText| {
        let at = at.key(name);
        if let SecretText::Elsewhere(block) = written
            && block.aws.is_some()
        {
            c.refuse(
                &at,
                "credentials cannot be kept where they open: write `file` or `env`",
            );
            return None;
        }
        secret(c, &at, written, Purpose::Field)
    };
    let access_key = read("access_key", &block.access_key);
    let secret_key = read("secret_key", &block.secret_key);
    let token = (block.session_token.as_ref()).map(|token| read("session_token", token));
    Some(credentials::Source::Known(Credentials {
        access_key: access_key?,
        secret_key: secret_key?,
        session_token: match token {
            Some(token) => Some(token?),
            None => None,
        },
    }))
}

/// The credentials of the environment.
fn surrounding(c: &mut Checker<'_>) -> Option<credentials::Source> {
    let read = |name: &str| variable(c.around, name).map(Secret::from);
    let keys = (read("AWS_ACCESS_KEY_ID"), read("AWS_SECRET_ACCESS_KEY"));
    if let (Some(access_key), Some(secret_key)) = keys {
        return Some(credentials::Source::Known(Credentials {
            access_key,
            secret_key,
            session_token: read("AWS_SESSION_TOKEN"),
        }));
    }
    let full = variable(c.around, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let relative = variable(c.around, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let address = full.or(relative.map(|path| format!("http://169.254.170.2{path}")));
    let token = match variable(c.around, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Some(Token::File(file.into())),
        None => variable(c.around, "AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map(|token| Token::Text(token.trim().into())),
    };
    let at = Path::root().key("secrets");
    match address.map(|address| Url::parse(&address)) {
        Some(Ok(url)) if url.scheme == "https" || is_host_of_containers(&url.host) => {
            Some(credentials::Source::Container { url, token })
        }
        Some(_) => {
            let message = "AWS_CONTAINER_CREDENTIALS_FULL_URI leads neither to `https://…` nor to this host: correct it, or write `secrets.credentials`";
            c.refuse(at, message);
            None
        }
        None => {
            let message = "there is nothing to sign calls with: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write `secrets.credentials`";
            c.refuse(at, message);
            None
        }
    }
}

/// Whether credentials may come from there in plaintext: this host, or what ECS and EKS have in its place.
fn is_host_of_containers(host: &str) -> bool {
    is_loopback(host) || ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_names_its_region() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(region_of(text).as_deref(), expected, "{text}");
        };
        check(
            "arn:aws:secretsmanager:eu-west-1:1:secret:a-x",
            Some("eu-west-1"),
        );
        check(
            "arn:aws-cn:secretsmanager:cn-north-1:1:secret:a-x",
            Some("cn-north-1"),
        );
        check("arn:aws:s3:::bucket", None);
        check("prod/api", None);
        let own = |region: &str| own_endpoint(region).unwrap().origin();
        assert_eq!(
            own("eu-west-1"),
            "https://secretsmanager.eu-west-1.amazonaws.com"
        );
        assert_eq!(
            own("cn-north-1"),
            "https://secretsmanager.cn-north-1.amazonaws.com.cn"
        );
        assert!(own_endpoint("a/b").is_err());
    }
}
