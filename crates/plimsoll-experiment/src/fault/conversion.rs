//! Faults of the file to faults: one kind each, at times and on things that the file has.

use plimsoll_base::document::{Entries, Path as Pointer, suggestion};
use plimsoll_base::units::format_seconds;
use std::time::Duration;

use super::{Fault, FaultKind, Scope, certificate, clock, limits, link, network, run, toxiproxy};
use crate::component::{Component, ComponentKind};
use crate::loader::Loader;
use crate::method::Method;
use crate::name::refuse_name;
use crate::wire::FaultWire;

/// The kinds, as far as they are written.
fn kinds(wire: &FaultWire) -> Vec<&'static str> {
    let kinds = [
        ("kill", wire.kill.is_some()),
        ("freeze", wire.freeze.is_some()),
        ("cpu", wire.cpu.is_some()),
        ("memory", wire.memory.is_some()),
        ("link", wire.link.is_some()),
        ("certificate", wire.certificate.is_some()),
        ("clock", wire.clock.is_some()),
        ("partition", wire.partition.is_some()),
        ("blackhole", wire.blackhole.is_some()),
        ("rst", wire.rst.is_some()),
        ("loss", wire.loss.is_some()),
        ("dns", wire.dns.is_some()),
        ("power_off", wire.power_off.is_some()),
        ("disk_full", wire.disk_full.is_some()),
        ("run", wire.run.is_some()),
        ("toxiproxy", wire.toxiproxy.is_some()),
        ("nothing", wire.nothing.is_some()),
    ];
    let written = kinds.into_iter().filter(|(_, written)| *written);
    written.map(|(kind, _)| kind).collect()
}

/// Keys that belong to some kinds, as far as they are written, with these kinds.
fn belongings(wire: &FaultWire) -> Vec<(&'static str, &'static [&'static str])> {
    const WAYS: &[&str] = &["link", "toxiproxy"];
    let keys: [(_, _, &[&str]); 20] = [
        ("cores", wire.cores.is_some(), &["cpu"]),
        ("limit", wire.limit.is_some(), &["memory"]),
        ("delay", wire.delay.is_some(), WAYS),
        ("jitter", wire.jitter.is_some(), WAYS),
        ("bandwidth", wire.bandwidth.is_some(), WAYS),
        ("refuse", wire.refuse.is_some(), WAYS),
        ("reset", wire.reset.is_some(), WAYS),
        ("silence", wire.silence.is_some(), WAYS),
        ("file", wire.file.is_some(), &["certificate"]),
        ("as", wire.flaw.is_some(), &["certificate"]),
        ("authority", wire.authority.is_some(), &["certificate"]),
        (
            "authority_key",
            wire.authority_key.is_some(),
            &["certificate"],
        ),
        ("reload", wire.reload.is_some(), &["certificate"]),
        ("by", wire.by.is_some(), &["clock"]),
        ("share", wire.share.is_some(), &["loss"]),
        ("name", wire.name.is_some(), &["dns"]),
        ("answer", wire.answer.is_some(), &["dns"]),
        ("proxy", wire.proxy.is_some(), &["toxiproxy"]),
        ("request", wire.request.is_some(), &["toxiproxy"]),
        ("direction", wire.direction.is_some(), &network::DIRECTED),
    ];
    let written = keys.into_iter().filter(|(_, written, _)| *written);
    written.map(|(key, _, owners)| (key, owners)).collect()
}

pub(crate) fn convert_all(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<FaultWire>>,
    scope: &Scope<'_>,
) -> Vec<Fault> {
    let Some(wire) = wire else {
        return Vec::new();
    };
    let at = Pointer::root().key("faults");
    if !matches!(
        scope.method,
        Method::Measure | Method::Compare { .. } | Method::Availability(_)
    ) {
        loader.refuse_key(
            &at,
            "happen at moments of one load, and this method has many: write `method: measure`, `compare` or `availability`",
        );
    }
    let mut faults: Vec<Fault> = Vec::new();
    for (name, wire) in wire.iter() {
        let at = at.key(name);
        if let Some(message) = refuse_name("a fault", name) {
            loader.refuse_key(&at, message);
        }
        let Some(fault) = convert(loader, name, wire, scope, &at) else {
            continue;
        };
        let apart = matches!(scope.method, Method::Availability(_));
        let collides = |other: &&Fault| !apart && collide(other, &fault);
        if let Some(other) = faults.iter().find(collides) {
            let message = format!(
                "happens while `{}` does, to the same thing: what either does could not be told apart; write another `at`",
                other.name
            );
            loader.refuse(&at, message);
        }
        faults.push(fault);
    }
    faults
}

fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<Fault> {
    let kinds = kinds(wire);
    let [kind] = kinds[..] else {
        let message = match kinds.is_empty() {
            true => {
                "is no kind of fault: write one of `kill`, `freeze`, `cpu`, `memory`, `link`, `certificate`, `clock`, `partition`, `blackhole`, `rst`, `loss`, `dns`, `power_off`, `disk_full`, `run`, `toxiproxy` and `nothing`"
            }
            false => {
                "a fault is one thing: keep one of its kinds, and write another fault for each other"
            }
        };
        loader.refuse(at, message);
        return None;
    };
    for (key, owners) in belongings(wire) {
        if !owners.contains(&kind) {
            let owners = owners.join("`, `");
            let message =
                format!("`{key}` belongs to `{owners}` faults, and this is a `{kind}`: remove it");
            loader.refuse_key(at.key(key), message);
        }
    }
    let before = loader.problem_count();
    let kind = kind_of(loader, wire, scope, at);
    if kind.is_none() && loader.problem_count() == before {
        loader.refuse(at, "cannot be injected as it is written");
    }
    let arms = arms(loader, wire, scope, &at.key("arms"));
    let fault = Fault {
        name: name.to_owned(),
        at: moment(loader, wire, scope, at),
        lasts: *wire.lasts,
        arms,
        kind: kind?,
    };
    check_times(loader, &fault, scope, at);
    refuse_disk(loader, &fault, scope, at);
    Some(fault)
}

/// When it begins, where the method does not say that.
fn moment(loader: &mut Loader<'_>, wire: &FaultWire, scope: &Scope<'_>, at: &Pointer) -> Duration {
    match (wire.at, scope.method) {
        (Some(_), Method::Availability(_)) => {
            let message = "is chosen by `availability`, at random in each trial: remove it";
            loader.refuse_key(at.key("at"), message);
        }
        (None, Method::Availability(_)) | (Some(_), _) => {}
        (None, _) => loader.refuse(at, "has no moment: write for instance `at: 10s`"),
    }
    wire.at.map_or(Duration::ZERO, |at| *at)
}

fn kind_of(
    loader: &mut Loader<'_>,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<FaultKind> {
    let started = |loader: &mut Loader<'_>, name: &Option<String>, key: &str| {
        started(loader, name.as_deref()?, scope, &at.key(key))
    };
    if wire.kill.is_some() {
        return started(loader, &wire.kill, "kill").map(FaultKind::Kill);
    }
    if wire.freeze.is_some() {
        return started(loader, &wire.freeze, "freeze").map(FaultKind::Freeze);
    }
    if wire.cpu.is_some() {
        let component = started(loader, &wire.cpu, "cpu")?;
        return limits::cpu(loader, component, (wire, scope), at);
    }
    if wire.memory.is_some() {
        let component = started(loader, &wire.memory, "memory")?;
        return limits::memory(loader, component, wire, at);
    }
    if let Some(text) = &wire.link {
        if scope.network.is_some() {
            let message = "has its proxy outside of the `network`, on a way that its faults do not touch: write `partition`, `loss` or `rst` between hosts, or remove `network`";
            loader.refuse_key(at.key("link"), message);
        }
        return link::convert(loader, text, wire, at);
    }
    if let Some(kind) = network::convert(loader, wire, scope, at) {
        return kind;
    }
    if wire.disk_full.is_some() {
        let component = started(loader, &wire.disk_full, "disk_full")?;
        return limits::disk_full(loader, component, scope, at);
    }
    if wire.certificate.is_some() {
        let component = started(loader, &wire.certificate, "certificate")?;
        return certificate::convert(loader, component, wire, scope, at);
    }
    if wire.clock.is_some() {
        let component = started(loader, &wire.clock, "clock")?;
        return clock::convert(loader, component, wire, scope, at);
    }
    if let Some(wire) = &wire.run {
        return Some(FaultKind::Run(run::convert(loader, wire, &at.key("run"))));
    }
    if let Some(api) = &wire.toxiproxy {
        return toxiproxy::convert(loader, api, wire, scope, at);
    }
    if wire.nothing == Some(false) {
        loader.refuse(at.key("nothing"), "write `nothing: true`, or another kind");
    }
    Some(FaultKind::Nothing)
}

/// A component that this experiment starts: no other can be broken without being asked.
fn started(loader: &mut Loader<'_>, name: &str, scope: &Scope<'_>, at: &Pointer) -> Option<String> {
    match scope.component(name).map(|one| &one.kind) {
        None => {
            let names: Vec<String> = scope
                .components
                .iter()
                .map(|one| one.name.clone())
                .collect();
            let message = format!(
                "there is no component `{name}`: {}",
                suggestion(name, &names)
            );
            loader.refuse(at, message);
            None
        }
        Some(ComponentKind::External(_)) => {
            let message = format!(
                "`{name}` is external, and nothing that this experiment did not start is broken: write a `run` fault with commands of yours, a `toxiproxy` fault, or one of a `link` to it"
            );
            loader.refuse(at, message);
            None
        }
        Some(_) => Some(name.to_owned()),
    }
}

fn arms(loader: &mut Loader<'_>, wire: &FaultWire, scope: &Scope<'_>, at: &Pointer) -> Vec<String> {
    let Some(arms) = &wire.arms else {
        return Vec::new();
    };
    if arms.is_empty() {
        loader.refuse(at, "names no arm: write at least one, or remove the key");
    }
    for (index, arm) in arms.iter().enumerate() {
        if !scope.arm_names.contains(arm) {
            let message = format!(
                "there is no arm `{arm}`: {}",
                suggestion(arm, scope.arm_names)
            );
            loader.refuse(at.index(index), message);
        }
    }
    arms.clone()
}

/// A disk of a component is memory, and lives as long as its shim: a start after the fault would find it empty, as no machine does.
fn refuse_disk(loader: &mut Loader<'_>, fault: &Fault, scope: &Scope<'_>, at: &Pointer) {
    let ends = |component: &&Component| match &fault.kind {
        FaultKind::PowerOff(host) => component.placement.host.as_ref() == Some(host),
        kind => kind.restarts() && kind.component() == Some(&component.name),
    };
    let mut ended = scope.components.iter().filter(ends);
    let found = ended.find(|component| scope.has_disk(&component.name));
    if let Some(component) = found {
        let message = format!(
            "ends `{}`, whose `disk` goes with it and would be empty afterwards, as no real one is: remove `disk`",
            component.name
        );
        loader.refuse(at, message);
    }
}

/// A fault begins and is healed while there is load.
fn check_times(loader: &mut Loader<'_>, fault: &Fault, scope: &Scope<'_>, at: &Pointer) {
    if fault.lasts.is_zero() {
        loader.refuse(at.key("for"), "leaves no time: write for instance `5s`");
    }
    if matches!(scope.method, Method::Availability(_)) {
        return;
    }
    let shortest = scope.arms.iter().filter(|arm| fault.is_of(&arm.name));
    let shortest = shortest.min_by_key(|arm| arm.settings.duration);
    let end = fault.at.saturating_add(fault.lasts);
    if let Some(arm) = shortest
        && end > arm.settings.duration
    {
        let seconds = |duration: Duration| format_seconds(duration.as_secs_f64());
        let message = format!(
            "`at` and `for` end at {}, and the load of `{}` after {}: write less, or a longer `duration`",
            seconds(end),
            arm.name,
            seconds(arm.settings.duration)
        );
        loader.refuse(at.key("for"), message);
    }
}

/// Whether two faults break one thing at one time.
fn collide(one: &Fault, other: &Fault) -> bool {
    let same = one.kind.overlaps(&other.kind);
    let together = one.at < other.at.saturating_add(other.lasts)
        && other.at < one.at.saturating_add(one.lasts);
    let shares_arm = one.arms.is_empty()
        || other.arms.is_empty()
        || one.arms.iter().any(|arm| other.arms.contains(arm));
    same && together && shares_arm
}
