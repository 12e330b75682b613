//! Control groups that limit, freeze or kill a component, in hierarchies of version 1, 2 or both at once.
//!
//! This only decides where a group is and what is written to it; the component's shim makes it and removes it.

use crate::error::LabError;
use crate::kernel_file;
use crate::topology::shim::Cgroup;
use plimsoll_experiment::{CPU_PERIOD, CpuQuota};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where this process stands in the hierarchy that limits CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Controller {
    /// Version 1: the directory of this process's group.
    V1(PathBuf),
    /// Version 2: the mount point, and the directory of this process's group.
    V2 { mount: PathBuf, own: PathBuf },
}

/// Purposes of a component's groups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// To limit its processor time: to a quota, or later.
    pub(crate) cpu: Option<Option<CpuQuota>>,
    /// To limit its memory later: where it is left how often it met a limit.
    pub(crate) memory: Option<PathBuf>,
    /// To freeze or kill all of it at once, where the host can do that.
    pub(crate) whole: bool,
}

/// The groups called `name` that serve these purposes.
///
/// # Errors
/// [`LabError::Environment`] when this host has no place for one that limits.
pub(crate) fn groups(name: &str, wanted: &Wanted) -> Result<Vec<Cgroup>, LabError> {
    let mut groups: Vec<Cgroup> = Vec::new();
    let mut add = |group: Cgroup| match groups.iter_mut().find(|one| one.dir == group.dir) {
        Some(same) => {
            same.settings.extend(group.settings);
            same.copy = same.copy.take().or(group.copy);
        }
        None => groups.push(group),
    };
    if let Some(quota) = wanted.cpu {
        add(limit(name, quota)?);
    }
    if let Some(copy) = &wanted.memory {
        add(memory(name, Some(copy))?);
    }
    // A process has one group of version 2: where a controller's is of that version, it serves for all.
    let is_unified = |group: &Cgroup| {
        group
            .dir
            .parent()
            .is_some_and(|parent| parent.join(FREEZABLE).exists())
    };
    if wanted.whole && !groups.iter().any(is_unified) {
        groups.extend(whole(name));
    }
    Ok(groups)
}

/// Whether a group that limits can be made here: processor time, or else memory.
///
/// # Errors
/// [`LabError::Environment`] with what the host does not permit.
pub(crate) fn check(of_memory: bool) -> Result<(), LabError> {
    let name = format!("plimsoll-check-{}", std::process::id());
    let group = match of_memory {
        true => memory(&name, None)?,
        false => limit(&name, None)?,
    };
    let made = fs::create_dir(&group.dir).and_then(|()| fs::remove_dir(&group.dir));
    made.map_err(|error| none(&format!("{}: {error}", group.dir.display())))
}

/// A file that directories of version 2 have, and no others.
const FREEZABLE: &str = "cgroup.controllers";

/// A group of version 2, which can be frozen and killed as a whole; `None` where none can be made.
fn whole(name: &str) -> Option<Cgroup> {
    let text = |path: &str| kernel_file::read(path).unwrap_or_default();
    let (_, own) = unified(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"))?;
    let dir = own.join(name);
    // It is there while the start before has not ended: its successor takes it over.
    let is_there = match fs::create_dir(&dir) {
        Ok(()) => false,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => true,
        Err(_) => return None,
    };
    let is_whole = dir.join("cgroup.kill").exists() && dir.join("cgroup.freeze").exists();
    if !is_there {
        fs::remove_dir(&dir).ok()?;
    }
    is_whole.then_some(Cgroup {
        dir,
        settings: Vec::new(),
        leave_to: own,
        copy: None,
    })
}

/// Files that count how often a group met its limit of memory, of version 1 and 2.
pub(crate) const MET: [&str; 2] = ["memory.failcnt", "memory.events"];

/// A group whose memory can be limited; how often it met a limit is left at `copy`.
fn memory(name: &str, copy: Option<&Path>) -> Result<Cgroup, LabError> {
    let text = |path: &str| kernel_file::read(path).unwrap_or_default();
    let (own, mountinfo) = (text("/proc/self/cgroup"), text("/proc/self/mountinfo"));
    let (parent, own, met) = match locate("memory", &own, &mountinfo) {
        Some(Controller::V1(own)) => (own.clone(), own, MET[0]),
        Some(Controller::V2 { mount, own }) => {
            let parent = delegating("memory", &mount, &own)
                .ok_or_else(|| none("no group passes the memory controller on to its children"))?;
            (parent, own, MET[1])
        }
        None => return Err(none("no hierarchy with the memory controller is mounted")),
    };
    Ok(Cgroup {
        dir: parent.join(name),
        settings: Vec::new(),
        leave_to: own,
        copy: copy.map(|copy| (met.to_owned(), copy.to_owned())),
    })
}

/// A group called `name` that may use so much CPU time; without a quota, all that there is.
///
/// # Errors
/// [`LabError::Environment`] when this host has no place for one.
pub(crate) fn limit(name: &str, quota: Option<CpuQuota>) -> Result<Cgroup, LabError> {
    let text = |path: &str| kernel_file::read(path).unwrap_or_default();
    let controller = locate(
        "cpu",
        &text("/proc/self/cgroup"),
        &text("/proc/self/mountinfo"),
    );
    let period_us = quota.map_or(CPU_PERIOD, |quota| quota.period).as_micros();
    let share = |quota: CpuQuota| quota.period.mul_f64(quota.cores).as_micros().to_string();
    let or = |none: &str| quota.map_or_else(|| none.to_owned(), share);
    match controller {
        Some(Controller::V1(own)) => Ok(Cgroup {
            dir: own.join(name),
            settings: vec![
                ("cpu.cfs_period_us".to_owned(), period_us.to_string()),
                ("cpu.cfs_quota_us".to_owned(), or("-1")),
            ],
            leave_to: own,
            copy: None,
        }),
        Some(Controller::V2 { mount, own }) => {
            let parent = delegating("cpu", &mount, &own)
                .ok_or_else(|| none("no group passes the cpu controller on to its children"))?;
            Ok(Cgroup {
                dir: parent.join(name),
                settings: vec![("cpu.max".to_owned(), format!("{} {period_us}", or("max")))],
                leave_to: own,
                copy: None,
            })
        }
        None => Err(none("no hierarchy with the cpu controller is mounted")),
    }
}

/// The directories of a process's groups, by what they limit; `None` when that cannot be told. Where both versions are mounted, a
/// controller is of version 1 if that lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    /// CPU time.
    pub(crate) cpu: Option<PathBuf>,
    /// Memory.
    pub(crate) memory: Option<PathBuf>,
    /// Its group of version 2, which accounts for pressure.
    pub(crate) unified: Option<PathBuf>,
}

impl Groups {
    /// Those of the process `pid`.
    pub(crate) fn of(pid: u32) -> Self {
        let text = |path: &str| kernel_file::read(path).unwrap_or_default();
        let cgroup = text(&format!("/proc/{pid}/cgroup"));
        Self::parse(&cgroup, &text("/proc/self/mountinfo"))
    }

    fn parse(cgroup: &str, mountinfo: &str) -> Self {
        let of = |controller: &str| match locate(controller, cgroup, mountinfo)? {
            Controller::V1(own) | Controller::V2 { own, .. } => Some(own),
        };
        Self {
            cpu: of("cpu"),
            memory: of("memory"),
            unified: unified(cgroup, mountinfo).map(|(_, own)| own),
        }
    }
}

/// The directory of the group that limits the CPU time of the process `pid`; `None` when that cannot be told.
pub(crate) fn of(pid: u32) -> Option<PathBuf> {
    Groups::of(pid).cpu
}

fn none(reason: &str) -> LabError {
    LabError::Environment(format!(
        "limits of components need a control group, and this host has no place for one: {reason}"
    ))
}

/// The nearest group at or above `own` whose children are limited: a group with processes cannot pass controllers on.
fn delegating(controller: &str, mount: &Path, own: &Path) -> Option<PathBuf> {
    let ancestors = own
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(mount));
    ancestors
        .filter(|ancestor| {
            kernel_file::read(ancestor.join("cgroup.subtree_control")).is_ok_and(|controllers| {
                controllers
                    .split_ascii_whitespace()
                    .any(|c| c == controller)
            })
        })
        .map(Path::to_owned)
        .next()
}

/// Finds a controller in `/proc/<pid>/cgroup` (cgroups(7)) and `/proc/self/mountinfo` (proc_pid_mountinfo(5)). Where both
/// versions are mounted, it belongs to version 1 if that lists it.
fn locate(controller: &str, cgroup: &str, mountinfo: &str) -> Option<Controller> {
    let v1 = memberships(cgroup).find(|(names, _)| names.split(',').any(|c| c == controller));
    if let Some((_, path)) = v1 {
        let (mount, root) = mounted(mountinfo, "cgroup", controller)?;
        return Some(Controller::V1(join(&mount, &root, path)));
    }
    let (mount, own) = unified(cgroup, mountinfo)?;
    Some(Controller::V2 { mount, own })
}

/// The mount point of version 2 and the directory of the group in it.
fn unified(cgroup: &str, mountinfo: &str) -> Option<(PathBuf, PathBuf)> {
    let (_, path) = memberships(cgroup).find(|(names, _)| names.is_empty())?;
    let (mount, root) = mounted(mountinfo, "cgroup2", "")?;
    let own = join(&mount, &root, path);
    Some((mount, own))
}

/// Controllers and path of each hierarchy.
fn memberships(cgroup: &str) -> impl Iterator<Item = (&str, &str)> {
    cgroup.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?))
    })
}

/// The mount point and root of a file system of this type with this option; any option when it is empty.
fn mounted(mountinfo: &str, kind: &str, option: &str) -> Option<(PathBuf, String)> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        let options = (source.next()? == kind).then(|| source.nth(1)).flatten()?;
        if !option.is_empty() && !options.split(',').any(|o| o == option) {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let root = fields.next()?.to_owned();
        Some((PathBuf::from(fields.next()?), root))
    })
}

/// A group's path below its mount. In a container the mount shows only what lies below `root`.
fn join(mount: &Path, root: &str, path: &str) -> PathBuf {
    let below = path
        .strip_prefix(root.trim_end_matches('/'))
        .unwrap_or(path);
    mount.join(below.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_2_and_hybrid() {
        let check = |cgroup: &str, mountinfo: &str, expected: Option<Controller>| {
            assert_eq!(locate("cpu", cgroup, mountinfo), expected, "{cgroup}");
        };
        let v1 = "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";
        let v2 = "30 24 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:8 - cgroup2 cgroup2 rw\n";
        check(
            "4:cpu,cpuacct:/user\n0::/user\n",
            &format!("{v2}{v1}"),
            Some(Controller::V1("/sys/fs/cgroup/cpu,cpuacct/user".into())),
        );
        check(
            "0::/user.slice/a\n",
            v2,
            Some(Controller::V2 {
                mount: "/sys/fs/cgroup/unified".into(),
                own: "/sys/fs/cgroup/unified/user.slice/a".into(),
            }),
        );
        let container = "31 24 0:27 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        check(
            "2:cpu:/docker/x/y\n",
            container,
            Some(Controller::V1("/sys/fs/cgroup/cpu/y".into())),
        );
        check("", "", None);
    }

    #[test]
    fn each_controller_has_its_own_group() {
        let mounts = "31 24 0:27 / /c/cpu rw - cgroup cgroup rw,cpu\n32 24 0:28 / /c/memory rw - cgroup cgroup rw,memory\n33 24 0:29 / /c/unified rw - cgroup2 cgroup2 rw\n";
        let groups = Groups::parse("4:memory:/a/b\n1:cpu:/\n0::/c\n", mounts);
        let expected = Groups {
            cpu: Some("/c/cpu/".into()),
            memory: Some("/c/memory/a/b".into()),
            unified: Some("/c/unified/c".into()),
        };
        assert_eq!(groups, expected);
        let only_v2 = Groups::parse("0::/c\n", mounts);
        assert_eq!(only_v2.cpu, only_v2.unified);
    }
}
