//! A Redis for this crate's tests, and commands for it.

use crate::RedisConf;
use plimsoll_testbed::peers::redis::Redis;
use redis::Pipeline;

/// A server of its own, and where it is.
pub(crate) fn start() -> (Redis, RedisConf) {
    let redis = Redis::start(&[]).unwrap();
    let conf = RedisConf::parse(&format!("redis://{}", redis.address())).unwrap();
    (redis, conf)
}

/// Commands, a line each.
pub(crate) fn commands(lines: &str) -> Pipeline {
    let mut commands = redis::pipe();
    for line in lines.lines() {
        let mut words = line.split(' ');
        commands.cmd(words.next().unwrap());
        words.for_each(|word| _ = commands.arg(word));
    }
    commands
}
