//! What is said to Redis and heard from it: sessions under `apikey-…` as Tyk writes them, changes in a stream, gateways in a set.

use super::changes::{Waiting, Word};
use crate::keys::key::Quotas as Becomes;
use crate::keys::{KeyHash, KeyStore};
use crate::redis_server::{Answers, Connection, Fence, RedisConf, WhenFull};
use redis::{Pipeline, RedisResult};
use std::collections::HashMap;

/// Keys in one request.
const AT_ONCE: usize = 500;
/// Changes that the stream holds on to; whoever was away for longer reads all keys.
const STREAM_LENGTH: usize = 100_000;
/// The stream of changes: the hash of each key that was made, changed or withdrawn.
const CHANGES: &str = "plimsoll-key-changes";
/// Gateways by when they were heard of last, in seconds since 1970 by Redis' clock.
const GATEWAYS: &str = "plimsoll-gateways";
/// Seconds after which a gateway that is not heard of does not count.
const GONE_AFTER: u64 = 5;
/// A word that a Redis keeps for as long as it forgets nothing: whoever finds none leaves one.
const EPOCH: &str = "plimsoll-epoch";
/// What is said of a key in the stream: it was changed and its quota kept, it was made or changed as a whole, it was withdrawn.
const KEPT: &str = "0";
const MADE: &str = "1";
const WITHDRAWN: &str = "2";
const CONNECTED: &str = "invariant: a turn begins with a connection";
/// An id before all others of a stream.
const BEGINNING: &str = "0-0";

/// The connection, and how far the stream has been read.
pub(super) struct Talk {
    conf: RedisConf,
    name: String,
    connection: Option<Connection>,
    /// Before what a connection that broke may not have told: told late, a change that was taken back would hold, and what was spent of a
    /// quota would make that of a withdrawn key anew.
    fence: Fence,
    /// The last change that was read; `None` before the first connection.
    read: Option<String>,
    /// The Redis' word, as it was found last.
    epoch: String,
    /// Changes were dropped from the stream before they were read.
    dropped: bool,
}

/// What a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct News {
    /// Every key of Redis is to be read: it is the first connection, or too much was missed.
    pub(super) missed: bool,
    /// Redis has lost changes that it knew.
    pub(super) forgotten: bool,
}

impl Talk {
    pub(super) fn new(conf: &RedisConf, name: String) -> Self {
        Self {
            conf: conf.clone(),
            fence: Fence::new(format!("plimsoll-keys-{name}-fence")),
            name,
            connection: None,
            read: None,
            epoch: String::new(),
            dropped: false,
        }
    }

    /// Host and port, for people.
    pub(super) fn place(&self) -> String {
        self.conf.place()
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Makes sure that there is a connection.
    pub(super) fn connect(&mut self) -> RedisResult<News> {
        let mut news = News {
            missed: self.dropped,
            forgotten: false,
        };
        if self.connection.is_some() {
            return Ok(news);
        }
        let mut connection = self.conf.dial()?;
        self.fence.raise(&mut connection)?;
        let epoch = self.epoch_of(&mut connection)?;
        let stream = Stream::look(&mut connection, self.read.as_deref())?;
        match &self.read {
            None => news.missed = true,
            Some(_) if epoch != self.epoch => news.forgotten = true,
            Some(read) if read == BEGINNING => news.missed |= stream.oldest.is_some(),
            Some(_) if stream.has_read => {}
            Some(read) if stream.is_behind(read) => news.missed = true,
            // An older state of it has come back.
            Some(_) => news.forgotten = true,
        }
        if news.forgotten {
            self.read = Some(BEGINNING.to_owned());
        } else if news.missed {
            self.read = Some(stream.newest.unwrap_or_else(|| BEGINNING.to_owned()));
        }
        self.epoch = epoch;
        self.connection = Some(connection);
        Ok(news)
    }

    /// The word that Redis keeps; a new one, if it had none.
    fn epoch_of(&self, connection: &mut Connection) -> RedisResult<String> {
        let now = crate::clock::since_epoch().as_nanos();
        let mut request = redis::pipe();
        let leave = request.cmd("SET").arg(EPOCH);
        leave.arg(format!("{}-{now}", self.name)).arg("NX");
        request.cmd("GET").arg(EPOCH);
        let answers = (self.fence).carry_out_one(connection, WhenFull::CarryOut, request)?;
        let ((), epoch) = answers.all()?;
        Ok(epoch)
    }

    fn ask<T: redis::FromRedisValue>(&mut self, request: &Pipeline) -> RedisResult<T> {
        request.query(self.connection.as_mut().expect(CONNECTED))
    }

    /// Tells Redis what became of these keys, now or never, those that are gone first; `heard` gets each that it has heard of.
    ///
    /// # Errors
    /// What keeps those that are left from being told; or a refusal of one, when all others were told.
    pub(super) fn hand_on(
        &mut self,
        due: Vec<(KeyHash, Waiting)>,
        keys: &KeyStore,
        mut heard: impl FnMut(&(KeyHash, Waiting)),
    ) -> RedisResult<()> {
        let is_there = |change: &(KeyHash, Waiting)| keys.with(change.0, |_| ()).is_some();
        let (there, gone): (Vec<_>, Vec<_>) = due.into_iter().partition(is_there);
        let gone = gone.chunks(AT_ONCE).map(|gone| (gone, WhenFull::CarryOut));
        let there = there.chunks(AT_ONCE).map(|there| (there, WhenFull::Refuse));
        let mut refused = Ok(());
        for (changes, when_full) in gone.chain(there) {
            let said =
                |(hash, waiting): &(KeyHash, Waiting)| said_of(*hash, *waiting, keys, &self.name);
            let said: Vec<Pipeline> = changes.iter().map(said).collect();
            for (change, answer) in changes.iter().zip(self.tell(when_full, &said)?) {
                match answer.all::<()>() {
                    Ok(()) => heard(change),
                    Err(error) => refused = Err(error),
                }
            }
        }
        refused
    }

    /// Tells Redis now or never.
    fn tell(&mut self, when_full: WhenFull, groups: &[Pipeline]) -> RedisResult<Vec<Answers>> {
        let connection = self.connection.as_mut().expect(CONNECTED);
        self.fence.carry_out(connection, when_full, groups)
    }

    /// Says that this gateway lives; how many do.
    pub(super) fn heartbeat(&mut self) -> RedisResult<u32> {
        // By Redis' own clock: those of several machines differ.
        let mut request = redis::pipe();
        request.cmd("TIME");
        let ((now, _),): ((u64, u64),) = self.ask(&request)?;
        let mut request = redis::pipe();
        request.cmd("ZADD").arg(GATEWAYS).arg(now).arg(&self.name);
        let gone = now.saturating_sub(GONE_AFTER);
        let forget = request.cmd("ZREMRANGEBYSCORE").arg(GATEWAYS);
        forget.arg("-inf").arg(gone);
        request.cmd("ZCARD").arg(GATEWAYS);
        let connection = self.connection.as_mut().expect(CONNECTED);
        let answers = (self.fence).carry_out_one(connection, WhenFull::CarryOut, request)?;
        let ((), (), count) = answers.all()?;
        Ok(count)
    }

    /// Says that this gateway ends, if anybody listens.
    pub(super) fn farewell(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let mut request = redis::cmd("ZREM");
        if request
            .arg(GATEWAYS)
            .arg(&self.name)
            .query::<()>(connection)
            .is_err()
        {
            // The others stop counting it by themselves.
        }
    }

    /// Every key that Redis has, with its session.
    pub(super) fn all_keys(&mut self, mut take: impl FnMut(KeyHash, &str)) -> RedisResult<()> {
        let mut cursor = 0_u64;
        loop {
            let mut request = redis::pipe();
            let scan = request.cmd("SCAN").arg(cursor).arg("MATCH").arg("apikey-*");
            scan.arg("COUNT").arg(AT_ONCE);
            let ((next, names),): ((u64, Vec<String>),) = self.ask(&request)?;
            // Of keys that Tyk named by other hashes nothing can be known.
            let hash = |name: &String| KeyHash::from_hex(name.strip_prefix("apikey-")?);
            let hashes: Vec<KeyHash> = names.iter().filter_map(hash).collect();
            for (hash, session) in self.sessions(&hashes)? {
                if let Some(session) = session {
                    take(hash, &session);
                }
            }
            cursor = next;
            if cursor == 0 {
                self.dropped = false;
                return Ok(());
            }
        }
    }

    /// Changes that were not read yet: a word about the key, and its session or `None` where it is gone. That some were dropped before
    /// they were read is news of the next turns, until every key was read.
    pub(super) fn changes(&mut self, mut take: impl FnMut(Word, Option<&str>)) -> RedisResult<()> {
        loop {
            let read = self.read.clone().unwrap_or_else(|| BEGINNING.to_owned());
            let mut request = redis::pipe();
            let range = request.cmd("XRANGE").arg(CHANGES).arg(format!("({read}"));
            range.arg("+").arg("COUNT").arg(AT_ONCE);
            let oldest = request.cmd("XRANGE").arg(CHANGES).arg("-").arg("+");
            oldest.arg("COUNT").arg(1);
            let (entries, oldest): (Entries, Entries) = self.ask(&request)?;
            let Some((last, _)) = entries.last().cloned() else {
                return Ok(());
            };
            let oldest = oldest.first();
            self.dropped |= read != BEGINNING && oldest.is_some_and(|(id, _)| is_before(&read, id));
            let words = words(entries, &self.name);
            let hashes: Vec<KeyHash> = words.keys().copied().collect();
            for (hash, session) in self.sessions(&hashes)? {
                take(words[&hash], session.as_deref());
            }
            self.read = Some(last);
        }
    }

    fn sessions(&mut self, hashes: &[KeyHash]) -> RedisResult<Vec<(KeyHash, Option<String>)>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut request = redis::pipe();
        let names = hashes
            .iter()
            .map(|hash| format!("apikey-{}", hash.to_hex()));
        request.cmd("MGET").arg(names.collect::<Vec<_>>());
        let (sessions,): (Vec<Option<String>>,) = self.ask(&request)?;
        Ok(hashes.iter().copied().zip(sessions).collect())
    }

    /// Adds what was spent of quotas, now or never; `added` gets each that Redis has added to, with the sum over all gateways and when it ends
    /// in seconds since 1970, if it does.
    ///
    /// # Errors
    /// What keeps those that are left from being added; or a refusal of one, when all others were added.
    pub(super) fn add_spent(
        &mut self,
        spent: &[Spending],
        mut added: impl FnMut(&Spending, u32, Option<u32>),
    ) -> RedisResult<()> {
        let mut refused = Ok(());
        for spent in spent.chunks(AT_ONCE) {
            let requests: Vec<Pipeline> = spent.iter().map(Spending::said).collect();
            let answers = self.tell(WhenFull::Refuse, &requests)?;
            for (spending, answers) in spent.iter().zip(answers) {
                if let Some(sum) = answers.of::<i64>(0) {
                    let end = answers.of(2).filter(|_| !spending.is_last());
                    added(spending, u32::try_from(sum).unwrap_or(u32::MAX), end);
                }
                refused = refused.and(answers.all::<()>());
            }
        }
        refused
    }
}

/// What Redis is told of a key that is there or gone.
fn said_of(hash: KeyHash, waiting: Waiting, keys: &KeyStore, name: &str) -> Pipeline {
    let mut request = redis::pipe();
    let (hex, quota) = (hash.to_hex(), waiting.quotas);
    let key = format!("apikey-{hex}");
    let session = keys.with(hash, |key| (key.shared_text(), key.forgotten_at()));
    if quota == Becomes::Reset || session.is_none() {
        request.cmd("DEL").arg(format!("quota-{hex}"));
    }
    let said = match (&session, quota) {
        (None, _) => WITHDRAWN,
        (Some(_), Becomes::Reset) => MADE,
        (Some(_), Becomes::Keep) => KEPT,
    };
    match session {
        Some((session, forgotten)) => {
            let set = request.cmd("SET").arg(key).arg(session);
            // Without it the key is there for good, whatever was said before.
            if let Some(at) = forgotten {
                set.arg("EXAT").arg(at);
            }
        }
        None => _ = request.cmd("DEL").arg(key),
    }
    let add = request.cmd("XADD").arg(CHANGES).arg("MAXLEN").arg("~");
    add.arg(STREAM_LENGTH).arg("*");
    for word in ["k", &hex, "r", said, "g", name] {
        add.arg(word);
    }
    request
}

/// What was spent here of a key's quota since it was told last.
#[derive(Debug)]
pub(super) struct Spending {
    pub(super) hash: KeyHash,
    pub(super) used: u32,
    /// The end of the quota's period, in seconds since 1970.
    pub(super) renews: u32,
    /// When the key is forgotten, if it is.
    pub(super) forgotten: Option<u32>,
}

impl Spending {
    /// Whether the quota is never renewed.
    fn is_last(&self) -> bool {
        self.renews == u32::MAX
    }

    /// What Redis is told: it answers with the sum first, and third with when that ends.
    fn said(&self) -> Pipeline {
        let key = format!("quota-{}", self.hash.to_hex());
        let mut request = redis::pipe();
        request.cmd("INCRBY").arg(&key).arg(self.used);
        match (self.is_last(), self.forgotten) {
            // Only the first of a period says when it ends.
            (false, _) => {
                let end = request.cmd("EXPIREAT").arg(&key).arg(self.renews);
                end.arg("NX")
            }
            // It goes with its key, which may have been given more time since.
            (true, Some(at)) => request.cmd("EXPIREAT").arg(&key).arg(at),
            (true, None) => request.cmd("PERSIST").arg(&key),
        };
        request.cmd("EXPIRETIME").arg(&key);
        request
    }
}

/// Entries of a stream: ids, and names and values one after the other.
type Entries = Vec<(String, Vec<String>)>;

/// What others than `own` say in these entries, one word for each key.
fn words(entries: Entries, own: &str) -> HashMap<KeyHash, Word> {
    let mut words = HashMap::new();
    for (_, fields) in entries {
        let [_, hex, _, said, _, by] = &fields[..] else {
            continue;
        };
        let Some(hash) = KeyHash::from_hex(hex).filter(|_| by != own) else {
            continue;
        };
        let word = words.entry(hash).or_insert(Word {
            hash,
            quotas: Becomes::Keep,
            is_new: false,
        });
        match said.as_str() {
            MADE => (word.quotas, word.is_new) = (Becomes::Reset, true),
            WITHDRAWN => word.is_new = false,
            _ => {}
        }
    }
    words
}

/// What a stream of changes has.
struct Stream {
    oldest: Option<String>,
    newest: Option<String>,
    /// The change that was read last is still there.
    has_read: bool,
}

impl Stream {
    fn look(connection: &mut Connection, read: Option<&str>) -> RedisResult<Self> {
        let mut request = redis::pipe();
        let read = read.unwrap_or(BEGINNING);
        for (order, from, to) in [
            ("XRANGE", "-", "+"),
            ("XREVRANGE", "+", "-"),
            ("XRANGE", read, read),
        ] {
            let range = request.cmd(order).arg(CHANGES).arg(from).arg(to);
            range.arg("COUNT").arg(1);
        }
        let (oldest, newest, read): (Entries, Entries, Entries) = request.query(connection)?;
        let id = |entries: Entries| entries.into_iter().next().map(|(id, _)| id);
        Ok(Self {
            oldest: id(oldest),
            newest: id(newest),
            has_read: !read.is_empty(),
        })
    }

    /// Whether all that it has came after `read`.
    fn is_behind(&self, read: &str) -> bool {
        let oldest = self.oldest.as_deref();
        oldest.is_some_and(|oldest| is_before(read, oldest))
    }
}

/// Whether one id of a stream (milliseconds, a dash, a number) is before another.
fn is_before(one: &str, other: &str) -> bool {
    let parts = |id: &str| -> Option<(u64, u64)> {
        let (time, number) = id.split_once('-')?;
        Some((time.parse().ok()?, number.parse().ok()?))
    };
    parts(one) < parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_by_number() {
        assert!(is_before("0-0", "1-0"));
        assert!(is_before("9-5", "10-0"));
        assert!(is_before("10-9", "10-10"));
        assert!(!is_before("10-10", "10-10"));
    }
}
