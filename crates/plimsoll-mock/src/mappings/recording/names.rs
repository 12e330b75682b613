//! Names of recorded mappings and of the files that their bodies go to, made as WireMock makes them.

use plimsoll_wiremock::request::parameters::decode;

/// Longest name.
const LONGEST: usize = 200;

/// A mapping's name: its path with what a file name may hold.
pub(super) fn of_path(path: &str) -> String {
    // A plus is a space in queries only.
    let path = path.replace('+', "");
    let decoded = decode(&path);
    let decoded = decoded.trim_matches('/').replace('/', "_");
    let spaced = decoded.split_whitespace().collect::<Vec<_>>().join("-");
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "_-.".contains(*c);
    let name: String = spaced.chars().filter(allowed).take(LONGEST).collect();
    name.to_lowercase()
}

/// A body's file: its mapping's name (or method), its id, and an ending for its kind.
pub(super) fn of_file(name: &str, method: &str, id: &str, ending: &str) -> String {
    match name {
        "" => format!("{}--{id}.{ending}", method.to_lowercase()),
        name => format!("{name}-{id}.{ending}"),
    }
}

/// The segments of a path in a name, as WireMock's older recorder has them.
pub(super) fn of_segments(path: &str) -> String {
    const LONGEST: usize = 150;
    let path = path.replace('+', "%2B");
    let decoded = decode(&path);
    let segments = decoded.split('/').filter(|segment| !segment.is_empty());
    let joined = segments.collect::<Vec<_>>().join("-");
    let allowed = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    let allowed = joined.chars().map(|c| if allowed(c) { c } else { '_' });
    let mut name: String = allowed.collect();
    name.truncate(name.floor_char_boundary(LONGEST));
    if name.trim().is_empty() {
        return "(root)".to_owned();
    }
    name
}

/// The ending of a body's file: by its content type, else its path's own, else by what is in it.
pub(super) fn ending(content_type: &str, path: &str, is_text: bool) -> String {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let by_type = match kind.to_ascii_lowercase().as_str() {
        kind if kind.ends_with("json") => "json",
        "text/html" => "html",
        kind if kind.ends_with("xml") => "xml",
        "text/plain" => "txt",
        "text/csv" => "csv",
        "text/css" => "css",
        "application/javascript" | "text/javascript" => "js",
        "application/pdf" => "pdf",
        "image/png" => "png",
        "image/jpeg" => "jpeg",
        "image/gif" => "gif",
        _ => "",
    };
    if !by_type.is_empty() {
        return by_type.to_owned();
    }
    let own = path
        .rsplit('/')
        .next()
        .and_then(|last| last.rsplit_once('.'));
    let own = own.map_or("", |(_, ending)| ending);
    if !own.is_empty() && own.len() <= 8 && own.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return own.to_owned();
    }
    if is_text { "txt" } else { "bin" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_without_what_files_cannot_have() {
        for (path, expected) in [
            ("/", ""),
            ("/json%20a/b", "json-a_b"),
            ("/A.b~c/%C3%BC?", "a.bc_"),
            ("/../x", ".._x"),
            ("/a+b/", "ab"),
        ] {
            assert_eq!(of_path(path), expected, "{path}");
        }
    }

    #[test]
    fn segments_are_joined() {
        for (path, expected) in [
            ("/", "(root)"),
            ("/please/record-this", "please-record-this"),
            ("/a%2Fb//c+d:e%00/\u{e9}/", "a-b-c_d_e_-\u{e9}"),
            ("/../x", "..-x"),
        ] {
            assert_eq!(of_segments(path), expected, "{path}");
        }
        assert_eq!(
            of_segments(&format!("/a{}", "%C3%A9".repeat(200))).len(),
            149
        );
    }

    #[test]
    fn files_end_by_their_kind() {
        for (content_type, path, is_text, expected) in [
            ("application/json; charset=utf-8", "/a.txt", true, "json"),
            ("application/problem+json", "/a", true, "json"),
            ("application/soap+xml", "/a", true, "xml"),
            ("application/octet-stream", "/a.b/c.zip", false, "zip"),
            ("application/octet-stream", "/a.b/c", false, "bin"),
            ("", "/a", true, "txt"),
        ] {
            assert_eq!(ending(content_type, path, is_text), expected);
        }
        assert_eq!(of_file("", "GET", "1", "txt"), "get--1.txt");
        assert_eq!(of_file("a", "GET", "1", "txt"), "a-1.txt");
    }
}
