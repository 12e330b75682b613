//! Which flag said what a problem of the experiment is about: a person who wrote flags is told of flags.

use plimsoll_base::document::{Problem, Problems};

/// Where an experiment that was spelled out has things, and the flag that says them. The first that fits counts.
const FLAGS: [(&str, &str); 20] = [
    ("components.target", "URL"),
    ("generator.shards", "--threads"),
    ("load.connections", "-c"),
    ("load.users", "-c"),
    ("load.rate", "-r"),
    ("load.profile", "--poisson"),
    ("load.iterations", "-n"),
    ("load.duration", "-z"),
    ("load.warmup", "--warmup"),
    ("load.timeout", "--timeout"),
    ("load.keep_alive", "--disable-keepalive"),
    ("load.protocol", "--http2"),
    ("load.streams", "--streams"),
    ("load.tls.ca", "--cacert"),
    ("load.tls.cert", "--cert"),
    ("load.tls.key", "--key"),
    ("load.tls", "TLS"),
    ("scenario[0].headers", "-H"),
    ("scenario[0].body", "-b"),
    ("scenario[0].multipart", "--curl, -F"),
];

/// Everything that is wrong, by flag where there is one. With `-n` the length of the load follows from it.
pub fn problems(problems: &Problems, is_numbered: bool) -> String {
    let lines = problems.iter().map(|problem| line(problem, is_numbered));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(problem: &Problem, is_numbered: bool) -> String {
    let message = problem
        .message
        .replace("the experiment file", "the current directory");
    let flag = FLAGS
        .iter()
        .find(|(path, _)| problem.path.starts_with(path));
    match flag {
        Some((_, "-z")) if is_numbered => format!("-n: {message}"),
        Some((_, flag)) => format!("{flag}: {message}"),
        // The method is the key that has the path.
        None if problem.path.starts_with("scenario[0].") => format!("URL: {message}"),
        None => problem.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_flags() {
        let check = |path: &str, is_numbered: bool, expected: &str| {
            let problem = Problem {
                path: path.to_owned(),
                ..Problem::of_file("x", "must not be")
            };
            assert_eq!(problems(&problem.into(), is_numbered), expected);
        };
        check("load.users", false, "-c: must not be");
        check("load.duration", false, "-z: must not be");
        check("load.duration", true, "-n: must not be");
        check("scenario[0].headers.X-A", false, "-H: must not be");
        check("scenario[0].body_file", false, "-b: must not be");
        check("scenario[0].post", false, "URL: must not be");
        check("method", false, "x: method: must not be");
    }
}
