//! Facts of the machine for the record, from `/proc` and `/sys`. What cannot be read is said to be unknown.

use crate::kernel_file;
use plimsoll_report::record::Host;

/// The machine that this process runs on.
#[must_use]
pub fn read() -> Host {
    let text = |path: &str| kernel_file::read(path).unwrap_or_default();
    let cpuinfo = text("/proc/cpuinfo");
    let unknown = || "unknown".to_owned();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Host {
        os: os_name(&text("/etc/os-release")).unwrap_or_else(unknown),
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        cpu_model: cpu_field(&cpuinfo, "model name")
            .or_else(|| cpu_field(&cpuinfo, "Processor"))
            .unwrap_or_else(unknown),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory_bytes: memory_bytes(&text("/proc/meminfo")).unwrap_or(0),
        virtualisation: is_virtual(&cpuinfo).then(|| {
            let vendor = text("/sys/class/dmi/id/sys_vendor").trim().to_owned();
            if vendor.is_empty() { unknown() } else { vendor }
        }),
    }
}

/// Descriptors that are left to the generator's own work.
const OWN_DESCRIPTORS: u64 = 256;
/// Memory that a connection may take, at both of its ends on one machine, with room to spare.
const BYTES_PER_CONNECTION: u64 = 256 * 1024;

/// How many connections a generator on this machine can hold: by descriptors, by local ports to one target, and by a quarter of the memory.
#[must_use]
pub fn most_connections() -> u32 {
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let descriptors = descriptors.map_or(u64::MAX, |most| most.saturating_sub(OWN_DESCRIPTORS));
    let ports = port_count().map_or(u64::MAX, u64::from);
    let memory = kernel_file::read("/proc/meminfo").ok();
    let memory = memory
        .and_then(|text| memory_bytes(&text))
        .unwrap_or(u64::MAX);
    let most = descriptors
        .min(ports)
        .min(memory / 4 / BYTES_PER_CONNECTION);
    u32::try_from(most.max(1)).unwrap_or(u32::MAX)
}

/// Local ports for outgoing connections, the first and the last of them; `None` where the kernel does not say.
#[must_use]
pub fn local_ports() -> Option<(u32, u32)> {
    let range = kernel_file::read("/proc/sys/net/ipv4/ip_local_port_range");
    port_range(&range.ok()?)
}

/// How many [`local_ports`] there are.
#[must_use]
pub fn port_count() -> Option<u32> {
    local_ports().map(|(first, last)| last - first + 1)
}

/// Name of this machine.
#[must_use]
pub fn name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

fn port_range(text: &str) -> Option<(u32, u32)> {
    let mut ends = text.split_ascii_whitespace().map(str::parse);
    let (first, last): (u32, u32) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (first <= last).then_some((first, last))
}

fn os_name(os_release: &str) -> Option<String> {
    let line = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned())
}

fn is_virtual(cpuinfo: &str) -> bool {
    cpu_field(cpuinfo, "flags")
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let cpuinfo =
            "processor\t: 0\nmodel name\t: Example CPU @ 2.9GHz\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(
            cpu_field(cpuinfo, "model name").as_deref(),
            Some("Example CPU @ 2.9GHz")
        );
        assert!(is_virtual(cpuinfo) && !is_virtual("flags : fpu\n"));
        assert_eq!(
            memory_bytes("MemTotal:        4030532 kB\nMemFree: 1 kB\n"),
            Some(4_127_264_768)
        );
        assert_eq!(
            os_name("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(),
            Some("Debian GNU/Linux 12")
        );
        assert_eq!(port_range("32768\t60999\n"), Some((32_768, 60_999)));
        assert_eq!(port_range("60999 32768"), None);
    }
}
