//! The order in which components start, and circles of references, which have none.

use crate::component::Component;
use crate::loader::{Loader, Use};
use crate::template::Reference;
use std::collections::{BTreeSet, HashMap};

/// How components depend on each other, by their places.
pub struct Order {
    /// Each after those that it refers to.
    pub start: Vec<usize>,
    /// For each those that it refers to.
    pub needs: Vec<Vec<usize>>,
}

/// Components so that each comes after those that it refers to, else in the order of the file; and for each those that it refers to.
pub(super) fn find(loader: &mut Loader<'_>, components: &[Component], uses: &[Use]) -> Order {
    let names = components.iter().enumerate();
    let places: HashMap<&str, usize> = names.map(|(at, it)| (it.name.as_str(), at)).collect();
    let index = |name: &String| places.get(name.as_str()).copied();
    let mut needs = vec![Vec::new(); components.len()];
    for used in uses {
        if let (Some(owner), Reference::Component { component, .. }) =
            (&used.component, &used.reference)
            && let (Some(owner_index), Some(needed)) = (index(owner), index(component))
            && owner_index != needed
        {
            needs[owner_index].push((needed, used));
        }
    }
    let mut waiting = Waiting::new(&needs);
    let mut order: Vec<usize> = Vec::new();
    while order.len() < components.len() {
        let next = match waiting.ready.pop_first() {
            Some(next) => vec![next],
            None => refuse_circle(loader, components, &needs, &waiting.started),
        };
        for started in next {
            waiting.start(started);
            order.push(started);
        }
    }
    let places = |needs: &Vec<(usize, &Use)>| needs.iter().map(|(needed, _)| *needed).collect();
    Order {
        start: order,
        needs: needs.iter().map(places).collect(),
    }
}

/// Components that have not started, and how many of their needs have not either: each reference is looked at once.
struct Waiting {
    started: Vec<bool>,
    /// For each component, how many of its references lead to what has not started.
    missing: Vec<usize>,
    /// For each component, whose references lead to it.
    needed_by: Vec<Vec<usize>>,
    /// Components all of whose needs have started.
    ready: BTreeSet<usize>,
}

impl Waiting {
    fn new(needs: &[Vec<(usize, &Use)>]) -> Self {
        let missing: Vec<usize> = needs.iter().map(Vec::len).collect();
        let mut needed_by = vec![Vec::new(); needs.len()];
        for (index, references) in needs.iter().enumerate() {
            for (needed, _) in references {
                needed_by[*needed].push(index);
            }
        }
        Self {
            started: vec![false; needs.len()],
            ready: (0..needs.len()).filter(|at| missing[*at] == 0).collect(),
            missing,
            needed_by,
        }
    }

    fn start(&mut self, index: usize) {
        self.started[index] = true;
        self.ready.remove(&index);
        for &waiting in &self.needed_by[index] {
            self.missing[waiting] -= 1;
            if self.missing[waiting] == 0 && !self.started[waiting] {
                self.ready.insert(waiting);
            }
        }
    }
}

/// Follows references from the first component that cannot start, until one comes round again; gives the circle.
/// Nothing can start, so every component that is left refers to another one that is.
fn refuse_circle(
    loader: &mut Loader<'_>,
    components: &[Component],
    needs: &[Vec<(usize, &Use)>],
    started: &[bool],
) -> Vec<usize> {
    let mut walk: Vec<(usize, &Use)> = Vec::new();
    let mut index = (0..components.len())
        .find(|index| !started[*index])
        .expect("invariant: a component is left");
    loop {
        if let Some(start) = walk.iter().position(|(seen, _)| *seen == index) {
            let circle: Vec<usize> = walk[start..].iter().map(|(index, _)| *index).collect();
            let names: Vec<String> = circle
                .iter()
                .chain([&index])
                .map(|index| format!("`{}`", components[*index].name))
                .collect();
            let message = format!(
                "components refer to each other in a circle ({}), so none can start first: remove one of the references",
                names.join(" → ")
            );
            loader.refuse_at(&walk[start].1.place, message);
            return circle;
        }
        let (needed, used) = needs[index]
            .iter()
            .find(|(needed, _)| !started[*needed])
            .expect("invariant: what cannot start refers to something that is left");
        walk.push((index, used));
        index = *needed;
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::Memory;

    #[test]
    fn what_a_component_refers_to_starts_before_it() {
        let text = "
version: 1
name: x
components:
  front: { gateway: { config: front.yaml } }
  middle: { command: [nginx], render: [nginx.conf.in], env: { EXTERNAL: \"${there.url}\" } }
  alone: { mock: {} }
  upstream: { mock: {} }
  there: { external: \"http://localhost:81\" }
scenario: [{ get: / }]
load: { rate: 1/s, duration: 1s, target: front }
";
        let files = [
            (
                "e/front.yaml",
                "endpoints: [\"${middle.url}\"] # ${self.dir}",
            ),
            (
                "e/nginx.conf.in",
                "listen ${self.port};\nproxy_pass ${upstream.url}$uri;",
            ),
        ];
        let experiment = Memory::new(text, &files).load(&[]).unwrap();
        let order: Vec<&str> = experiment
            .in_start_order()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(order, ["alone", "upstream", "there", "middle", "front"]);
        let inputs: Vec<&str> = experiment
            .inputs
            .iter()
            .map(|input| input.path.as_str())
            .collect();
        assert_eq!(
            inputs,
            ["e/experiment.yaml", "e/front.yaml", "e/nginx.conf.in"]
        );
    }
}
