//! Local ports for outgoing connections, and how many new ones a second they last for.

use super::Fact;
use plimsoll_base::units::format_number;
use std::fs;

const NAME: &str = "ports";
/// How long the end that closes keeps a port after its connection, in seconds: the kernel's constant.
const TIME_WAIT_S: u32 = 60;
/// What Linux gives unless told otherwise: 32768 to 60999.
const USUAL: u32 = 28_232;

/// How many there are; `None` where the kernel does not say.
#[must_use]
pub fn ports() -> Option<u32> {
    range().map(|(first, last)| last - first + 1)
}

pub(super) fn look() -> Fact {
    match range() {
        Some((first, last)) => judge(first, last),
        None => Fact::unknown(NAME, "the kernel does not say which may be used"),
    }
}

/// The first and the last of them.
fn range() -> Option<(u32, u32)> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    parse(&range.ok()?)
}

fn parse(range: &str) -> Option<(u32, u32)> {
    let mut ends = range.split_ascii_whitespace().map(str::parse);
    let (first, last): (u32, u32) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (first <= last).then_some((first, last))
}

fn judge(first: u32, last: u32) -> Fact {
    let count = last - first + 1;
    let lasting = count / TIME_WAIT_S;
    let number = |value: u32| format_number(f64::from(value));
    let finding = format!(
        "{} ({first} to {last}): {} connections at once to one address, {} new ones a second if the generator's end closes",
        number(count),
        number(count),
        number(lasting)
    );
    if count >= USUAL {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "loads that open a connection for every exchange (criterion 6)",
        "`sysctl net.ipv4.ip_local_port_range='1024 65535'`, several target addresses, or keep-alive",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn fewer_than_usual_limit() {
        let check = |text: &str, ok: bool| {
            let (first, last) = parse(text).unwrap();
            assert_eq!(judge(first, last).judgement == Judgement::Ok, ok, "{text}");
        };
        check("32768\t60999\n", true);
        check("1024\t65535\n", true);
        check("40000\t40063\n", false);
        assert_eq!(parse("60999 32768"), None);
    }
}
