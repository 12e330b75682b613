//! Local ports for outgoing connections, and how many new ones a second they last for.

use super::Fact;
use crate::host;
use plimsoll_base::units::format_number;

const NAME: &str = "ports";
/// How long the end that closes keeps a port after its connection, in seconds: the kernel's constant.
const TIME_WAIT_S: u32 = 60;
/// Linux's default number of ports: 32768 to 60999.
const USUAL: u32 = 28_232;

pub(super) fn look() -> Fact {
    match host::local_ports() {
        Some((first, last)) => judge(first, last),
        None => Fact::unknown(NAME, "the kernel does not say which may be used"),
    }
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
        let check = |first, last, ok: bool| {
            assert_eq!(judge(first, last).judgement == Judgement::Ok, ok, "{first}");
        };
        check(32_768, 60_999, true);
        check(1_024, 65_535, true);
        check(40_000, 40_063, false);
    }
}
