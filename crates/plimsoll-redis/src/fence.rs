//! Commands that are carried out now or never: behind a key that every connection writes before all else.

use crate::connection::{Connection, as_answered};
use redis::{
    Arg, Cmd, ConnectionLike as _, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult,
    Value,
};

/// Keeps a connection that has broken from having anything carried out after the next one: a Redis that stalled may read the broken
/// connection to its end only when it has answered another. So whatever is carried out looks at a key first, and every connection writes
/// that key before all else.
#[derive(Debug)]
pub struct Fence {
    key: String,
    /// Mark that was written last: never the same twice.
    raised: u128,
}

/// Seconds that Redis keeps a fence at which nobody looks.
const FENCE_KEPT: u64 = 24 * 60 * 60;

/// Writes the fence.
const RAISE: &str = "return redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])";
/// Carries out groups of commands, if the fence is as it was written, each up to its first refusal; what the commands of each were answered.
/// A group is told as the number of its commands and these, a command as that of its words.
const CARRY_OUT: &str = "
    if redis.call('GETEX', KEYS[1], 'EX', ARGV[2]) ~= ARGV[1] then return false end
    local groups, at = {}, 3
    while at <= #ARGV do
        local answers, refused, commands = {}, false, tonumber(ARGV[at])
        at = at + 1
        for _ = 1, commands do
            local last = at + ARGV[at]
            if not refused then
                local answer = redis.pcall(unpack(ARGV, at + 1, last))
                answers[#answers + 1] = answer
                refused = type(answer) == 'table' and answer.err
            end
            at = last + 1
        end
        groups[#groups + 1] = answers
    end
    return groups";

/// Treatment of commands by a Redis that is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It carries none of them out.
    Refuse,
    /// All: they free memory, or need next to none.
    CarryOut,
}

impl WhenFull {
    /// Beginning of a script.
    fn flags(self) -> &'static str {
        match self {
            Self::Refuse => "#!lua",
            Self::CarryOut => "#!lua flags=allow-oom",
        }
    }
}

impl Fence {
    /// One under a key of its own, which nobody else writes.
    pub fn new(key: String) -> Self {
        let raised = plimsoll_http::clock::since_epoch().as_nanos();
        Self { key, raised }
    }

    /// Commands of earlier connections that are not carried out by now never are.
    ///
    /// # Errors
    /// Redis', or the system's: then nothing is known.
    pub fn raise(&mut self, connection: &mut Connection) -> RedisResult<()> {
        self.raised += 1;
        self.script(WhenFull::CarryOut, RAISE).exec(connection)
    }

    /// Has groups of commands carried out with nothing in between, each up to its first refusal.
    ///
    /// # Errors
    /// [`was_answered`](crate::was_answered): none was carried out, and Redis says why, be it that it [is full](crate::is_full). Others: nothing is known.
    pub fn carry_out(
        &self,
        connection: &mut Connection,
        when_full: WhenFull,
        groups: &[Pipeline],
    ) -> RedisResult<Vec<Answers>> {
        let mut request = self.script(when_full, CARRY_OUT);
        for group in groups {
            request.arg(group.len());
            for command in group.cmd_iter() {
                let words = command.args_iter();
                request.arg(words.len());
                for word in words {
                    match word {
                        Arg::Simple(word) => _ = request.arg(word),
                        _ => unreachable!("invariant: a word is no cursor of an iteration"),
                    }
                }
            }
        }
        match connection.req_packed_command(&request.get_packed_command())? {
            Value::Array(groups) => groups.into_iter().map(Answers::read).collect(),
            _ => Err(overtaken()),
        }
    }

    /// Has one group carried out.
    ///
    /// # Errors
    /// As of [`Fence::carry_out`].
    pub fn carry_out_one(
        &self,
        connection: &mut Connection,
        when_full: WhenFull,
        group: Pipeline,
    ) -> RedisResult<Answers> {
        let mut answers = self.carry_out(connection, when_full, &[group])?;
        Ok(answers.pop().unwrap_or(Answers(Vec::new())))
    }

    /// Has commands carried out by a transaction, each whatever the others are answered; a Redis that is full, or refuses one before it
    /// begins, carries none of them out. A script would copy long words; this takes a round trip more.
    ///
    /// # Errors
    /// As of [`Fence::carry_out`]; all of them close the connection, which may have a transaction open.
    pub fn transact(
        &self,
        connection: &mut Connection,
        commands: &mut Pipeline,
    ) -> RedisResult<Answers> {
        let answers = self.begin(connection).and_then(|()| {
            // The mark is kept for as long as it is in use.
            let renew = commands.cmd("GETEX").arg(&self.key);
            renew.arg("EX").arg(FENCE_KEPT);
            let queued = commands.cmd_iter().count();
            let execute = commands.cmd("EXEC").get_packed_pipeline();
            match connection.req_packed_commands(&execute, queued, 1)?.pop() {
                Some(Value::Array(mut answers)) => {
                    answers.pop();
                    Answers::read(Value::Array(answers))
                }
                _ => Err(overtaken()),
            }
        });
        if answers.is_err() {
            connection.close();
        }
        answers
    }

    /// Opens a transaction, which is carried out only if the fence is as it was written until then.
    fn begin(&self, connection: &mut Connection) -> RedisResult<()> {
        let mut begin = redis::pipe();
        begin.cmd("WATCH").arg(&self.key).ignore();
        begin.cmd("GET").arg(&self.key).cmd("MULTI").ignore();
        let (mark,): (Option<String>,) = begin.query(connection)?;
        match mark == Some(self.raised.to_string()) {
            true => Ok(()),
            false => Err(overtaken()),
        }
    }

    /// A script, with what each is told: the fence, what it says, and how long it is kept.
    fn script(&self, when_full: WhenFull, body: &str) -> Cmd {
        let mut eval = redis::cmd("EVAL");
        let script = format!("{}\n{body}", when_full.flags());
        eval.arg(script).arg(1).arg(&self.key);
        eval.arg(self.raised.to_string()).arg(FENCE_KEPT);
        eval
    }
}

/// Another connection has written the fence, or Redis has lost it.
fn overtaken() -> RedisError {
    (ErrorKind::Client, "its fence was written meanwhile").into()
}

/// Answers to the commands of a group, the last of which may be refused: then those behind it were not carried out.
#[derive(Debug, PartialEq)]
pub struct Answers(Vec<RedisResult<Value>>);

impl Answers {
    fn read(group: Value) -> RedisResult<Self> {
        let answers: Vec<Value> = redis::from_redis_value(group)?;
        Ok(Self(answers.into_iter().map(as_answered).collect()))
    }

    /// Answer to the command of this number, if it was carried out.
    pub fn of<T: FromRedisValue>(&self, number: usize) -> Option<T> {
        let answer = self.0.get(number)?.as_ref().ok()?;
        redis::from_redis_value_ref(answer).ok()
    }

    /// Answers to all commands.
    ///
    /// # Errors
    /// The refusal, if one was refused.
    pub fn all<T: FromRedisValue>(self) -> RedisResult<T> {
        let answers: RedisResult<Vec<Value>> = self.0.into_iter().collect();
        Ok(redis::from_redis_value(Value::Array(answers?))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{commands, start};
    use crate::{RedisConf, is_full, was_answered};

    /// A connection, and the fence that is raised on it.
    fn behind_a_fence(conf: &RedisConf) -> (Connection, Fence) {
        let (mut connection, mut fence) = (conf.dial().unwrap(), Fence::new("fence".to_owned()));
        fence.raise(&mut connection).unwrap();
        (connection, fence)
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_group_is_carried_out_up_to_its_first_refusal_and_the_others_are() {
        let (redis, conf) = start();
        redis.ask(&["RPUSH", "list", "1"]).unwrap();
        let (mut connection, fence) = behind_a_fence(&conf);
        let groups = [
            "INCR a\nGET list\nINCR a",
            "INCR b\nGET none\nNO such",
            "INCR a",
        ]
        .map(commands);
        let groups = fence.carry_out(&mut connection, WhenFull::Refuse, &groups);
        let [first, second, third] = &groups.unwrap()[..] else {
            panic!("three groups");
        };
        assert_eq!((first.of(0), first.of::<Value>(1)), (Some(1), None));
        assert_eq!(first.0.len(), 2);
        let refusal = |answers: &Answers| answers.0.last().unwrap().clone().unwrap_err();
        let wrong = refusal(first);
        assert!(
            was_answered(&wrong) && wrong.to_string().contains("WRONGTYPE"),
            "{wrong}"
        );
        assert_eq!((second.of(0), second.of(1)), (Some(1), Some(Value::Nil)));
        assert!(was_answered(&refusal(second)));
        assert_eq!(third.0, [Ok(Value::Int(2))]);
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn without_the_right_to_a_fence_nothing_is_carried_out() {
        for refused in ["-eval", "-getex"] {
            let (redis, conf) = start();
            let (mut connection, fence) = behind_a_fence(&conf);
            redis.ask(&["ACL", "SETUSER", "default", refused]).unwrap();
            let set = [commands("SET a 1")];
            let error = fence.carry_out(&mut connection, WhenFull::Refuse, &set);
            assert!(was_answered(&error.unwrap_err()));
            assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
        }
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn behind_a_fence_that_was_raised_since_nothing_is_carried_out() {
        let (redis, conf) = start();
        let (mut connection, mut fence) = behind_a_fence(&conf);
        let before = Fence {
            key: fence.key.clone(),
            ..fence
        };
        fence.raise(&mut conf.dial().unwrap()).unwrap();
        let set = [commands("SET a 1")];
        for when_full in [WhenFull::Refuse, WhenFull::CarryOut] {
            let error = before.carry_out(&mut connection, when_full, &set);
            assert!(!was_answered(&error.unwrap_err()));
            assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
            fence.carry_out(&mut connection, when_full, &set).unwrap();
            assert_eq!(redis.ask(&["DEL", "a"]).unwrap(), "1");
        }
        // A Redis that has lost its fence has lost more.
        redis.ask(&["FLUSHALL"]).unwrap();
        let lost = fence.carry_out(&mut connection, WhenFull::Refuse, &set);
        assert!(!was_answered(&lost.unwrap_err()));
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_transaction_is_carried_out_behind_its_own_fence_alone() {
        let (redis, conf) = start();
        let (mut connection, mut fence) = behind_a_fence(&conf);
        let before = Fence {
            key: fence.key.clone(),
            ..fence
        };
        let answers = fence.transact(
            &mut connection,
            &mut commands("RPUSH list 1 2\nGET list\nGET a"),
        );
        let answers = answers.unwrap();
        assert_eq!((answers.of(0), answers.of(2)), (Some(2), Some(Value::Nil)));
        assert!(was_answered(&answers.all::<Value>().unwrap_err()));
        fence.raise(&mut conf.dial().unwrap()).unwrap();
        let late = before.transact(&mut conf.dial().unwrap(), &mut commands("SET a 1"));
        assert!(!was_answered(&late.unwrap_err()));
        // Raised after it was looked at.
        let watch = commands("WATCH fence\nGET fence");
        watch.exec(&mut connection).unwrap();
        fence.raise(&mut conf.dial().unwrap()).unwrap();
        let mut late = commands("SET a 1");
        let late: Value = late.atomic().query(&mut connection).unwrap();
        assert_eq!(late, Value::Nil);
        assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "0");
        fence
            .transact(&mut connection, &mut commands("SET a 1"))
            .unwrap();
        redis.ask(&["FLUSHALL"]).unwrap();
        let lost = fence.transact(&mut connection, &mut commands("SET a 1"));
        assert!(!was_answered(&lost.unwrap_err()));
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn a_transaction_that_is_refused_in_part_before_it_begins_is_refused() {
        for refused in ["-watch", "-multi", "-get", "-set", "-getex", "-exec"] {
            let (redis, conf) = start();
            let (mut connection, fence) = behind_a_fence(&conf);
            redis.ask(&["ACL", "SETUSER", "default", refused]).unwrap();
            let error = fence.transact(&mut connection, &mut commands("INCR a\nSET b 1"));
            assert!(was_answered(&error.unwrap_err()), "{refused}");
            assert_eq!(redis.ask(&["EXISTS", "a", "b"]).unwrap(), "0", "{refused}");
            assert!(!connection.is_open(), "{refused}");
            redis.ask(&["ACL", "SETUSER", "default", "+@all"]).unwrap();
            let mut connection = conf.dial().unwrap();
            let after = fence.transact(&mut connection, &mut commands("INCR a"));
            assert_eq!(
                after.map(|after| after.of(0)).ok(),
                Some(Some(1)),
                "{refused}"
            );
        }
    }

    #[test]
    #[ignore = "needs redis-server: run scripts/test"]
    fn one_that_is_full_carries_out_what_frees_memory_and_nothing_else() {
        let (redis, conf) = start();
        redis.ask(&["SET", "a", "1"]).unwrap();
        redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
        let (mut connection, fence) = behind_a_fence(&conf);
        let delete = [commands("DEL a\nSET b 1")];
        let error = fence.carry_out(&mut connection, WhenFull::Refuse, &delete);
        assert!(is_full(&error.unwrap_err()));
        assert_eq!(redis.ask(&["EXISTS", "a"]).unwrap(), "1");
        let error = fence.transact(&mut conf.dial().unwrap(), &mut commands("DEL a\nSET b 1"));
        assert!(is_full(&error.unwrap_err()));
        let answers = fence.carry_out(&mut connection, WhenFull::CarryOut, &delete);
        assert_eq!(answers.unwrap()[0].of(0), Some(1));
        assert_eq!(redis.ask(&["EXISTS", "a", "b"]).unwrap(), "1");
    }
}
