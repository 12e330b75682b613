//! Tokens signed by a private key: what arrives is what another implementation signs, and no record has the key.

use crate::program::{Server, Workspace};
use std::path::Path;

/// Output of `openssl dgst -sha256 -sign` for `{"sub":"ann"}` and the key of the test data.
const BY_OPENSSL: &str = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4ifQ.I-vHCmMRCSrJwN08sFgdPO1IoZIeg6-cbyR4OXyS9mjrwUSRSfikSjpcP2Z6nuu1rMoamVqRRgEDMYkzI7es6PGJ8lAsI7vJyubV1_HjpU5dJrAVwjKduCmSMfo4n1SYiSluXlesTcCkl6v4BzZNo4ZH2qA5qQcxtzeekpWO91jeMZL3DcJlyZyKLEAI9YBImxhK63tR4Y2wUO8VYJ0q_QpIte-M9CQZRnPovUpHKYFvETShGMHqgyPMnc6FmUwyn9mzI5QxAya7shsJFqHH_BNWhUkFaARdWkWfk0DPaYtTSai5M1Lhfl3B-KJWZ3gsBFgqxSpEqcenjHmkX86IxQ";

#[test]
fn a_private_key_signs_and_stays_out_of_every_record() {
    let workspace = Workspace::new();
    let keys = "../plimsoll-load/tests/data/keys/rsa.pem";
    let key = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(keys)).unwrap();
    workspace.write("key.pem", &key);
    let stub = format!(
        r#"{{"request":{{"url":"/","headers":{{"Authorization":{{"equalTo":"Bearer {BY_OPENSSL}"}}}}}},"response":{{"status":202}}}}"#
    );
    workspace.write("stubs/mappings/one.json", &stub);
    let mock = Server::start(&workspace, &["mock", "--port", "0", "--root-dir", "stubs"]);
    let experiment = format!(
        "version: 1\nname: tokens\ncomponents: {{ mock: {{ external: \"http://{}\", probe: none }} }}\nvalues: {{ claims: '{{\"sub\":\"ann\"}}' }}\n\
         scenario: [{{ get: /, auth: {{ bearer: \"${{jwt(RS256, file:key.pem, claims)}}\" }} }}]\n\
         load: {{ rate: 50/s, connections: 2, warmup: 0s, duration: 200ms }}\n",
        mock.main()
    );
    workspace.write("tokens.yaml", &experiment);
    let finished = workspace.experiment("tokens.yaml", &["--no-ui"]);
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    assert_eq!(arm["outcomes"]["answered"]["202"], arm["sent"]);
    let secret = key.lines().nth(1).unwrap();
    for entry in std::fs::read_dir(workspace.path().join("run")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let record = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!record.contains(secret), "{}", path.display());
        }
    }
}
