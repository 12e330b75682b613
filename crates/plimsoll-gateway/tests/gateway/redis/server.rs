//! A Redis of a test's own.

use super::*;

/// A Redis of its own, without files. Dropping it ends it.
pub struct Redis {
    pub at: SocketAddr,
    server: plimsoll_testbed::peers::redis::Redis,
    /// The password that it asks for, if it does.
    pub password: Option<String>,
}

/// An address that nobody else uses.
pub fn own_address() -> SocketAddr {
    plimsoll_testbed::peers::redis::own_address().unwrap()
}

impl Redis {
    pub fn start() -> Self {
        Self::on(own_address())
    }

    pub fn on(at: SocketAddr) -> Self {
        Self::with(at, &[])
    }

    /// One that asks for a password.
    pub fn secured(password: &str) -> Self {
        let redis = Self::with(own_address(), &["--requirepass", password]);
        let password = Some(password.to_owned());
        Self { password, ..redis }
    }

    /// With further flags.
    fn with(at: SocketAddr, flags: &[&str]) -> Self {
        let server = plimsoll_testbed::peers::redis::Redis::start_at(at, flags);
        Self {
            at,
            server: server.expect("redis-server is there: run scripts/test"),
            password: None,
        }
    }

    pub fn conf(&self) -> serde_json::Value {
        conf(self.at)
    }

    /// Stops it where it stands, or has it go on.
    pub fn signal(&self, signal: Signal) {
        self.server.signal(signal).unwrap();
    }

    /// Every element of a list.
    pub fn list(&self, key: &str) -> Vec<Vec<u8>> {
        let mut range = redis::cmd("LRANGE");
        self.answers(range.arg(key).arg(0).arg(-1))
    }

    /// Its answer.
    pub fn answers<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let password = self.password.iter();
        let login: String = password.map(|text| format!(":{text}@")).collect();
        let client = redis::Client::open(format!("redis://{login}{}", self.at)).unwrap();
        let mut connection = client.get_connection().unwrap();
        command.query(&mut connection).unwrap()
    }

    /// Ends it, and waits until `gateways` have seen it.
    pub fn ends(mut self, gateways: &[&Gateway]) -> SocketAddr {
        self.server.kill().unwrap();
        for gateway in gateways {
            until("it has none", || !has_redis(gateway));
        }
        self.at
    }

    /// Has it carry out a command, and waits for the answer.
    pub fn does(&self, command: &str) {
        let mut stream = TcpStream::connect(self.at).unwrap();
        let login = self.password.iter().map(|text| format!("AUTH {text}"));
        for line in login.chain([command.to_owned()]) {
            stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
            assert_ne!(stream.read(&mut [0; 64]).unwrap(), 0);
        }
    }
}
