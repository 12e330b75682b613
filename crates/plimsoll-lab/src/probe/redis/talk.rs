//! Commands of Redis and their answers, by RESP version 2 (redis.io, "Redis serialization protocol specification"): as much of it as
//! `AUTH` and `INFO` need.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// No server says more of itself.
const MOST_BYTES: usize = 1024 * 1024;
/// No line of an answer is longer.
const LONGEST_LINE: u64 = 8 * 1024;

/// A connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Why not, in words.
    pub(super) async fn open(host: &str, port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// The text that a command is answered with.
    ///
    /// # Errors
    /// The server's objection, or that it does not speak the protocol.
    pub(super) async fn ask(&mut self, words: &[&str]) -> Result<String, String> {
        let request = request(words);
        let sent = self.stream.write_all(request.as_bytes()).await;
        sent.map_err(|error| error.to_string())?;
        let mut line = String::new();
        let mut limited = (&mut self.stream).take(LONGEST_LINE);
        let read = limited.read_line(&mut line).await;
        read.map_err(|error| error.to_string())?;
        let line = line
            .strip_suffix("\r\n")
            .ok_or("it closed the connection, or is no Redis")?;
        match line.split_at_checked(1) {
            Some(("+", text)) => Ok(text.to_owned()),
            Some(("-", refusal)) => Err(refusal.to_owned()),
            Some(("$", length)) => self.bulk(length).await,
            _ => Err("its answer is not Redis's".to_owned()),
        }
    }

    /// So many bytes, and a line end.
    async fn bulk(&mut self, length: &str) -> Result<String, String> {
        let length = length.parse().ok().filter(|length| *length <= MOST_BYTES);
        let length: usize = length.ok_or("its answer is not Redis's")?;
        let mut bytes = vec![0; length + 2];
        let read = self.stream.read_exact(&mut bytes).await;
        read.map_err(|error| error.to_string())?;
        bytes.truncate(length);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A command as an array of bulk strings.
fn request(words: &[&str]) -> String {
    let words_of = words
        .iter()
        .map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), words_of.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn words_are_counted_in_bytes() {
        assert_eq!(request(&["AUTH", "é"]), "*2\r\n$4\r\nAUTH\r\n$2\r\né\r\n");
    }

    async fn check(answer: &str, expected: Result<&str, &str>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 64];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let ask = async {
            let mut connection = Connection::open("127.0.0.1", port).await.unwrap();
            connection.ask(&["INFO"]).await
        };
        let ((), answered) = tokio::join!(serve, ask);
        assert_eq!(answered.as_deref().map_err(String::as_str), expected);
    }

    #[tokio::test]
    async fn answers() {
        check("+OK\r\n", Ok("OK")).await;
        check("$5\r\na:1\r\n\r\n", Ok("a:1\r\n")).await;
        check("-WRONGPASS invalid\r\n", Err("WRONGPASS invalid")).await;
        check("HTTP/1.1 400\r\n", Err("its answer is not Redis's")).await;
        check("$99999999\r\n", Err("its answer is not Redis's")).await;
        check("", Err("it closed the connection, or is no Redis")).await;
    }
}
