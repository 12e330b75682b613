//! Resources beside processor time that held a component up, servers' own statistics, and the machine below all: tables that several
//! renderers show.

use super::table::Table;
use super::words::{NOTHING, bytes, cores, count, percent};
use crate::record::{ComponentSummary, HostStrain, ServerStatistics, Strain, Summary};
use plimsoll_base::units::{format_number, format_seconds};

/// A column: its head, and what stands in it.
type Column<T> = (&'static str, fn(&T) -> Option<String>);

const OF_COMPONENT: [Column<Strain>; 14] = [
    ("CPU limit", |s| s.cpu_limit_cores.map(|c| cores(Some(c)))),
    ("its CPUs busy", |s| s.cpus_busy_share.map(percent)),
    ("busiest process", |s| {
        s.busiest_process_cores.map(|c| cores(Some(c)))
    }),
    ("busiest thread ready", |s| {
        s.busiest_thread_ready.map(percent)
    }),
    ("throttled", |s| s.throttled_share.map(percent)),
    ("CPU pressure", |s| s.cpu_pressure.map(percent)),
    ("memory", |s| s.memory_share.map(percent)),
    ("memory pressure", |s| s.memory_pressure.map(percent)),
    ("major faults", |s| s.major_faults.map(count)),
    ("descriptors", |s| s.fds_share.map(percent)),
    ("accept queue", |s| s.accept_queue.map(count)),
    ("overflows", overflows),
    ("retransmits", again),
    ("ports", |s| s.ports_share.map(percent)),
];

const OF_SERVER: [Column<ServerStatistics>; 14] = [
    ("connections", |s| s.connections.map(tenths)),
    ("of those admitted, at most", |s| {
        s.connections_share.map(percent)
    }),
    ("refused", |s| s.connections_rejected.map(count)),
    ("active", |s| s.active.map(tenths)),
    ("idle in transaction", |s| s.idle_in_transaction.map(tenths)),
    ("waiting for a lock", |s| s.lock_waiters.map(tenths)),
    ("deadlocks", |s| s.deadlocks.map(count)),
    ("operations", |s| s.operations.map(count)),
    ("found in memory", |s| s.hit_share().map(percent)),
    ("temporary files", |s| {
        s.temporary_bytes.map(|size| bytes(Some(size)))
    }),
    ("its one thread", |s| {
        s.main_thread_cores.map(|c| cores(Some(c)))
    }),
    ("round of its loop", |s| s.loop_s.map(format_seconds)),
    ("of maxmemory", |s| s.data_memory_share.map(percent)),
    ("keys thrown out", |s| s.evicted_keys.map(count)),
];

fn tenths(mean: f64) -> String {
    format_number((mean * 10.0).round() / 10.0)
}

const OF_HOST: [Column<HostStrain>; 7] = [
    ("CPUs busy", |h| h.cpus_busy_share.map(percent)),
    ("stolen", |h| h.steal_share.map(percent)),
    ("CPU pressure", |h| h.cpu_pressure.map(percent)),
    ("memory pressure", |h| h.memory_pressure.map(percent)),
    ("disk pressure", |h| h.io_pressure.map(percent)),
    ("packets dropped", |h| h.softnet_dropped.map(count)),
    ("all probes, in cores", |h| {
        h.probes_cores.map(|cores| format!("{cores:.4}"))
    }),
];

/// Of its own listeners; where these are not counted, those of its network namespace are a bound.
fn overflows(strain: &Strain) -> Option<String> {
    let bound = |all| match all {
        0 => count(0),
        _ => format!("≤ {}", count(all)),
    };
    let own = strain.listen_drops.map(count);
    own.or_else(|| strain.listen_overflows.map(bound))
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn again(strain: &Strain) -> Option<String> {
    let (again, sent) = (strain.segments_again?, strain.segments_sent?);
    Some(percent(again as f64 / sent.max(1) as f64))
}

/// One row per component and arm; `None` where nothing is known. Columns of which nothing is known are left out.
pub(super) fn components(summary: &Summary) -> Option<Table> {
    table("component", &OF_COMPONENT, &rows(summary, |c| c.strain))
}

/// One row per server that says something of itself, and arm.
pub(super) fn servers(summary: &Summary) -> Option<Table> {
    let mut rows = rows(summary, |c| c.server);
    rows.retain(|(_, _, server)| !server.is_empty());
    table("server", &OF_SERVER, &rows)
}

/// A property of each component and arm, in order of the components.
fn rows<T>(summary: &Summary, of: impl Fn(&ComponentSummary) -> T) -> Vec<(String, String, T)> {
    let mut rows = Vec::new();
    for (arm, figures) in &summary.arms {
        let components = figures.components.iter();
        rows.extend(components.map(|(name, one)| (name.clone(), arm.clone(), of(one))));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

/// One row per arm; `None` where nothing is known.
pub(super) fn hosts(summary: &Summary) -> Option<Table> {
    let arms = summary.arms.iter();
    let rows: Vec<(String, String, HostStrain)> = arms
        .map(|(arm, figures)| ("this machine".to_owned(), arm.clone(), figures.host))
        .collect();
    table("machine", &OF_HOST, &rows)
}

fn table<T>(head: &str, columns: &[Column<T>], rows: &[(String, String, T)]) -> Option<Table> {
    let known: Vec<&Column<T>> = columns
        .iter()
        .filter(|(_, cell)| rows.iter().any(|(_, _, strain)| cell(strain).is_some()))
        .collect();
    if known.is_empty() {
        return None;
    }
    let heads = [head, "arm"].into_iter();
    let mut table = Table::new(heads.chain(known.iter().map(|(title, _)| *title))).with_words(&[1]);
    for (name, arm, strain) in rows {
        let cells = known
            .iter()
            .map(|(_, cell)| cell(strain).unwrap_or_else(|| NOTHING.to_owned()));
        let names = [name.clone(), arm.clone()].into_iter();
        table.rows.push(names.chain(cells).collect());
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_has_a_column() {
        let strain = |throttled_share, listen_drops| Strain {
            throttled_share,
            listen_overflows: Some(3),
            listen_drops,
            ..Strain::default()
        };
        let rows = [
            ("a".to_owned(), "x".to_owned(), strain(Some(0.25), None)),
            ("b".to_owned(), "x".to_owned(), strain(None, Some(2))),
        ];
        let table = table("component", &OF_COMPONENT, &rows).unwrap();
        insta::assert_snapshot!(table.to_text(), @r"
        component  arm  throttled  overflows
        a          x      25.00 %        ≤ 3
        b          x            –          2
        ");
        assert_eq!(
            super::table::<Strain>("component", &OF_COMPONENT, &[]),
            None
        );
    }
}
