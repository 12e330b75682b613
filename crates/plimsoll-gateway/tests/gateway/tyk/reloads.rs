//! Reloads of Tyk's files: what counts after them, and what they tell.

use super::*;

#[test]
fn policies_and_definitions_count_when_the_reload_succeeds() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let policy = |inactive: bool| {
        json!({ "p": { "org_id": "default", "is_inactive": inactive, "access_rights": { "keyed": {} } } }).to_string()
    };
    files.write("policies.json", &policy(false));
    files.api(
        "keyed",
        json!({ "use_keyless": false, "proxy": target(upstream.address) }),
    );
    let gateway = files.start();
    let named = session(json!({ "apply_policies": ["p"] }));
    assert_eq!(call(&gateway, "POST", "/tyk/keys/a-key", &named).0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 200);
    files.write("policies.json", &policy(true));
    // No name has so long a part: this can be read, and not be carried out.
    let nowhere = format!("http://{}/", "a".repeat(64));
    files.api("other", json!({ "proxy": { "target_url": nowhere } }));
    let (status, told) = call(&gateway, "GET", "/tyk/reload", "");
    assert_eq!(status, 500, "{told}");
    let told = told["message"].as_str().unwrap();
    assert!(told.contains("cannot be resolved"), "{told}");
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 200);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/other", "").0, 404);
    files.api("other", json!({ "proxy": target(upstream.address) }));
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    assert_eq!(ask(&gateway, "/keyed/", "a-key").status(), 403);
    assert_eq!(call(&gateway, "GET", "/tyk/apis/other", "").0, 200);
}

#[test]
fn a_reload_tells_what_is_ignored_and_closed_by_then() {
    let files = Files::new();
    files.conf(json!({ "log_level": "info" }));
    let plain = json!({ "definition": null });
    files.api("plain", plain.clone());
    let gateway = files.start();
    let mut doubtful = plain.clone();
    doubtful["slug"] = json!("a-slug");
    files.api("doubtful", doubtful);
    // What is not served is not told.
    files.write("apps/broken.json", "{");
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 500);
    files.write("apps/broken.json", "{ \"active\": false, \"proxy\": { \"listen_path\": \"/b\", \"target_url\": \"http://127.0.0.1:9\" } }");
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    gateway.hang_up();
    assert_eq!(call(&gateway, "GET", "/tyk/reload", "").0, 200);
    gateway.tell_to_stop();
    let told = gateway.join();
    let dir = format!("{}/apps/", files.dir.path().display());
    let of_files = told.iter().filter_map(|line| line.strip_prefix(&dir));
    let counts = |line: &&str| !line.contains("not JSON") && !line.starts_with("plain.json");
    let of_files: Vec<&str> = of_files.filter(counts).collect();
    let each = [
        "doubtful.json: fields: 11 supported, 2 ignored (version_data.versions.Default.name, slug), 0 refused",
        "broken.json: `active` is false, so this API is closed; Tyk would serve it",
    ];
    assert!(of_files.len() >= 4, "{told:?}");
    assert!(of_files.chunks(2).all(|told| told == each), "{told:?}");
}
