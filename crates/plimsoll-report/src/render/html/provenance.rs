//! Where the figures come from: enough to run it again.

use crate::render::view::RunView;
use crate::render::words::state;
use maud::{Markup, html};
use plimsoll_base::units::format_bytes;

pub(super) fn section(view: &RunView) -> Markup {
    let manifest = &view.manifest;
    let host = &manifest.host;
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    let memory = format_bytes(host.memory_bytes as f64);
    let content = html! {
        dl.facts {
            dt { "run" } dd { code { (manifest.id) } @if !view.location.is_empty() { " in " code { (view.location) } } }
            dt { "began, ended" } dd { (manifest.started_at) " – " (manifest.ended_at.as_deref().unwrap_or("?")) @if let Some(state) = state(manifest.state) { " · " (state) } }
            dt { "seed" } dd { code { (manifest.seed) } }
            @for arm in &manifest.arms { dt { "arm " (arm.name) } dd { "to " (arm.target) ": " (arm.load) } }
            @for component in &manifest.components {
                dt { "component " (component.name) } dd { (component.kind) @if !component.detail.is_empty() { ": " (component.detail) } }
            }
            dt { "host" }
            dd {
                (host.cpus) " × " (host.cpu_model) ", " (memory) ", " (host.os) ", kernel " (host.kernel)
                @if let Some(hypervisor) = &host.virtualisation { ", under " (hypervisor) }
            }
            @for (program, version) in &manifest.versions { dt { "version of " (program) } dd { (version) } }
            @for input in &manifest.inputs { dt { "input" } dd { (input.path) br; code { "sha256 " (input.sha256) } } }
        }
    };
    html! {
        (super::section("Provenance", "", content))
        footer { "Made by Plimsoll from the run directory; every figure stands in summary.json." }
    }
}
