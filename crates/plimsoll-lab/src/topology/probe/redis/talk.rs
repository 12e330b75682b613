//! Commands of Redis and their answers over a connection that stays open. The library writes and reads its protocol; how much of an answer
//! is taken, and how long it may take, is ours.

use redis::{ErrorKind, Value, cmd, parse_redis_value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// No server says more of itself.
const MOST_BYTES: usize = 1024 * 1024;

/// A connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Why not, in words.
    pub(super) async fn open(host: &str, port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        Ok(Self { stream })
    }

    /// The text that a command is answered with.
    ///
    /// # Errors
    /// The server's objection, or that it does not speak the protocol.
    pub(super) async fn ask(&mut self, name: &str, arguments: &[&str]) -> Result<String, String> {
        let request = cmd(name).arg(arguments).get_packed_command();
        let sent = self.stream.write_all(&request).await;
        sent.map_err(|error| error.to_string())?;
        match self.answer().await? {
            Value::ServerError(refusal) => {
                let details = refusal.details().unwrap_or_default();
                Err(format!("{} {details}", refusal.code()))
            }
            value => redis::from_redis_value(value).map_err(|_| not_redis()),
        }
    }

    /// Reads until an answer is whole.
    async fn answer(&mut self) -> Result<Value, String> {
        let mut bytes = Vec::new();
        while bytes.len() < MOST_BYTES {
            let read = self.stream.read_buf(&mut bytes).await;
            if read.map_err(|error| error.to_string())? == 0 {
                return Err("it closed the connection, or is no Redis".to_owned());
            }
            match parse_redis_value(&bytes) {
                Ok(value) => return Ok(value),
                // There is more to come.
                Err(error) if error.kind() == ErrorKind::Io => {}
                Err(_) => break,
            }
        }
        Err(not_redis())
    }
}

fn not_redis() -> String {
    "its answer is not Redis's".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

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
            connection.ask("INFO", &[]).await
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
        check("$5\r\na:1", Err("it closed the connection, or is no Redis")).await;
        let endless = format!("$99999999\r\n{}", "a".repeat(MOST_BYTES));
        check(&endless, Err("its answer is not Redis's")).await;
        check("", Err("it closed the connection, or is no Redis")).await;
    }
}
