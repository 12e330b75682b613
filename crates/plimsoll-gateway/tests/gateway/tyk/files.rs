//! Tyk's files of a test's own, and calls of the control API.

use super::*;

pub const SECRET: &str = "sesame-of-the-operator";
/// In the environment of every gateway of Tyk's files.
pub const REDIS_PASSWORD: &str = "sesame-of-redis";

/// A directory with Tyk's files.
pub struct Files {
    pub dir: tempfile::TempDir,
}

impl Files {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("apps")).unwrap();
        let files = Self { dir };
        files.conf(json!({}));
        files
    }

    /// Writes `tyk.conf` with these fields besides those that it needs.
    pub fn conf(&self, more: Value) {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let mut conf = json!({
            "listen_port": 0, "secret": SECRET, "app_path": path("apps"), "hash_keys": true,
            "policies": { "policy_source": "file", "policy_record_name": path("policies.json") },
        });
        merge(&mut conf, more);
        self.write("tyk.conf", &conf.to_string());
        if !self.dir.path().join("policies.json").exists() {
            self.write("policies.json", "{}");
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub fn api(&self, id: &str, more: Value) {
        let mut api = json!({
            "name": id, "api_id": id, "org_id": "default", "active": true, "use_keyless": true,
            "auth": { "auth_header_name": "Authorization" },
            "definition": { "location": "header", "key": "x-api-version" },
            "version_data": { "not_versioned": true, "versions": { "Default": { "name": "Default", "use_extended_paths": true } } },
            "proxy": { "listen_path": format!("/{id}/"), "target_url": "http://127.0.0.1:9/", "strip_listen_path": true },
        });
        merge(&mut api, more);
        self.write(
            &format!("apps/{id}.json"),
            &serde_json::to_string_pretty(&api).unwrap(),
        );
    }

    pub fn start(&self) -> Gateway {
        self.start_with(1, false)
    }

    /// With these keys from the start.
    pub fn start_with_keys(&self, keys: &str) -> Gateway {
        let (tyk, config, _) = self.open(false).unwrap();
        tyk.make_keys("keys.json", keys).unwrap();
        Gateway::of_tyk(1, tyk, config)
    }

    pub fn start_with(&self, shards: usize, strict: bool) -> Gateway {
        let (tyk, config, _) = self
            .open(strict)
            .unwrap_or_else(|problems| panic!("{problems}"));
        Gateway::of_tyk(shards, tyk, config)
    }

    pub fn open(
        &self,
        strict: bool,
    ) -> Result<(Tyk, plimsoll_gateway::GatewayConfig, Vec<String>), String> {
        let shown = |problems: plimsoll_base::document::Problems| {
            let dir = format!("{}/", self.dir.path().display());
            problems.to_string().replace(&dir, "")
        };
        let around = Surroundings {
            variables: &|name| match name {
                "TYK_SECRET" => Some(SECRET.to_owned()),
                "REDIS_PASSWORD" => Some(REDIS_PASSWORD.to_owned()),
                _ => None,
            },
            ..Surroundings::none()
        };
        Tyk::open(&self.dir.path().join("tyk.conf"), strict, around).map_err(shown)
    }
}

pub fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

pub fn target(upstream: SocketAddr) -> Value {
    json!({ "target_url": format!("http://{upstream}/") })
}

/// One call of the control API.
pub fn call(gateway: &Gateway, method: &str, path: &str, body: &str) -> (u16, Value) {
    call_as(gateway, SECRET, method, path, body)
}

pub fn call_as(
    gateway: &Gateway,
    secret: &str,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, Value) {
    let response = gateway.connect().ask(&format!(
        "{method} {path} HTTP/1.1\r\nHost: a\r\nx-tyk-authorization: {secret}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let text = response.body_text();
    (
        response.status(),
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

pub fn ask(gateway: &Gateway, path: &str, key: &str) -> Message {
    let key = match key {
        "" => String::new(),
        key => format!("Authorization: {key}\r\n"),
    };
    gateway
        .connect()
        .ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n{key}\r\n"))
}

pub fn session(more: Value) -> String {
    let mut session = json!({ "rate": 1000, "per": 1, "quota_max": -1, "access_rights": { "keyed": { "api_id": "keyed", "api_name": "keyed", "versions": ["Default"] } } });
    merge(&mut session, more);
    session.to_string()
}
