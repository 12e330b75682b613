//! Lists of paths in Tyk's definitions: what they close, open and exempt.

use super::*;

#[test]
fn wildcards_close_open_and_exempt_what_they_do_in_tyk() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let lists = |list: &str, path: &str| json!({ "extended_paths": { list: [{ "path": path }] } });
    versioned(
        &files,
        "closed",
        &upstream,
        lists("black_list", "/users/*/secret"),
        json!({}),
    );
    versioned(
        &files,
        "open",
        &upstream,
        lists("white_list", "/v1/*/read"),
        json!({}),
    );
    let keyed = json!({ "use_keyless": false });
    versioned(
        &files,
        "keyed",
        &upstream,
        lists("ignored", "/public/*"),
        keyed,
    );
    let gateway = files.start();
    for (path, expected) in [
        ("/closed/users/42/secret", 403),
        ("/closed/users/42/7/secret", 200),
        ("/closed/users/42", 200),
        ("/open/v1/7/read", 200),
        ("/open/v1/7/write", 403),
        ("/keyed/public/x", 200),
        ("/keyed/public-internal/keys", 401),
    ] {
        assert_eq!(status(&gateway, path), expected, "{path}");
    }
}

#[test]
fn lists_are_closed_by_what_they_hold_and_not_by_what_matches() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let listed = |list: &str, entry: Value| json!({ "extended_paths": { list: [entry] } });
    let reply = json!({ "GET": { "action": "reply", "code": 201, "data": "made up" } });
    let unknown = json!({ "GET": { "action": "" } });
    for (id, version, more) in [
        (
            "replies",
            listed(
                "white_list",
                json!({ "path": "/x", "method_actions": reply }),
            ),
            json!({}),
        ),
        (
            "nothing",
            listed("white_list", json!({ "path": "/x", "method_actions": {} })),
            json!({}),
        ),
        (
            "unlisted",
            listed("black_list", json!({ "path": "/x", "method_actions": {} })),
            json!({}),
        ),
        (
            "stopped",
            listed(
                "ignored",
                json!({ "path": "/x", "method_actions": unknown }),
            ),
            json!({}),
        ),
        (
            "exempt",
            listed("ignored", json!({ "path": "/x", "method_actions": {} })),
            json!({ "use_keyless": false }),
        ),
        (
            "nobody",
            listed("mock_response", json!({ "path": "/x", "code": 200 })),
            json!({}),
        ),
    ] {
        versioned(&files, id, &upstream, version, more);
    }
    let gateway = files.start();
    for (path, expected) in [
        ("/replies/x", 201),
        ("/replies/y", 403),
        ("/nothing/x", 403),
        ("/unlisted/x", 200),
        ("/stopped/x", 403),
        ("/stopped/y", 200),
        ("/exempt/x", 401),
        ("/nobody/x", 200),
    ] {
        assert_eq!(status(&gateway, path), expected, "{path}");
    }
    let (_, _, notes) = files.open(false).unwrap();
    let told = |about: &str| notes.iter().filter(|note| note.contains(about)).count();
    assert_eq!(
        (
            told("`method_actions` for no method"),
            told("names no `method`")
        ),
        (3, 1),
        "{notes:?}"
    );
}

#[test]
fn plain_lists_know_no_case_of_their_version_and_exempt_paths_are_counted_by_their_api() {
    let upstream = Upstream::echo();
    let files = Files::new();
    let plain = json!({ "use_extended_paths": false, "ignore_endpoint_case": true, "paths": { "ignored": ["/Public"] } });
    let keyed = json!({ "use_keyless": false, "global_rate_limit": { "rate": 2, "per": 3600 } });
    versioned(&files, "a", &upstream, plain, keyed);
    let gateway = files.start();
    assert_eq!(status(&gateway, "/a/public"), 401);
    let statuses: Vec<u16> = (0..3).map(|_| status(&gateway, "/a/Public")).collect();
    assert_eq!(statuses, [200, 200, 429]);
}
