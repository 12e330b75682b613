//! `"responses": [{"weight": 9}, {"weight": 1, "response": {…}}]` and `"errorRate": {"share": 0.05, "response": {"status": 503}}`: answers by lot.
//!
//! An alternative without a response is the stub's own. Of both, the error's lot is drawn first.

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::{Node, Object, Problems};
use crate::response::delivery::Delivery;
use crate::stub::response::Response;
use plimsoll_base::random::Draw;

/// Most alternatives of one stub.
const MOST: usize = 1000;

/// Possible answers, and how likely each is.
#[derive(Debug, Clone)]
pub struct Alternatives<R = Alternative> {
    /// The upper bound of each one's part of the numbers from 0 to 1, ascending.
    lots: Vec<(f64, R)>,
}

/// One of the answers.
#[derive(Debug, Clone, Default)]
pub struct Alternative {
    /// The stub's own without one.
    pub response: Option<Response>,
    /// As the response says without one.
    pub delivery: Option<Delivery>,
}

impl Alternatives {
    /// Reads both properties of `metadata.plimsoll`; `None` if neither is there.
    pub(super) fn read(
        object: &mut Object<'_>,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Option<Self> {
        let (error, alternatives) = (object.get("errorRate"), object.get("responses"));
        if error.is_none() && alternatives.is_none() {
            return None;
        }
        let error = error.and_then(|node| read_error(&node, around, problems));
        let alternatives = match alternatives {
            Some(node) => read_list(&node, around, problems),
            None => vec![(1.0, Alternative::default())],
        };
        let share = error.as_ref().map_or(0.0, |(share, _)| *share);
        let all: f64 = alternatives.iter().map(|(weight, _)| weight).sum();
        let rest = alternatives
            .into_iter()
            .map(|(weight, alternative)| (weight / all * (1.0 - share), alternative));
        let mut bound = 0.0;
        let lots = error.into_iter().chain(rest).map(|(share, alternative)| {
            bound += share;
            (bound, alternative)
        });
        Some(Self {
            lots: lots.collect(),
        })
    }
}

impl<R> Alternatives<R> {
    /// These alternatives with something made of each.
    pub fn map<S>(self, mut make: impl FnMut(R) -> S) -> Alternatives<S> {
        let lots = self.lots.into_iter();
        Alternatives {
            lots: lots
                .map(|(bound, alternative)| (bound, make(alternative)))
                .collect(),
        }
    }

    /// All alternatives.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.lots.iter().map(|(_, alternative)| alternative)
    }

    /// The alternative that the lot gives.
    pub fn pick(&self, draw: &mut Draw) -> Option<&R> {
        let lot = draw.unit();
        let place = self.lots.partition_point(|(bound, _)| *bound <= lot);
        // Sums of shares may end just below 1.
        let chosen = self.lots.get(place).or(self.lots.last());
        chosen.map(|(_, alternative)| alternative)
    }
}

fn read_error(
    node: &Node<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Option<(f64, Alternative)> {
    let mut object = node.object(problems)?;
    let share = object.required("share", problems);
    let share = share.and_then(|node| match node.number(problems)? {
        share if (0.0..=1.0).contains(&share) => Some(share),
        _ => node.wrong("a share from 0 to 1", problems),
    });
    let response = object.required("response", problems);
    let response = response.and_then(|node| Response::read(&node, None, around, problems));
    object.finish(&[], problems);
    response.as_ref()?.check_length(&node.pointer, problems);
    let alternative = Alternative {
        response: Some(response?),
        delivery: None,
    };
    Some((share?, alternative))
}

fn read_list(
    node: &Node<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Vec<(f64, Alternative)> {
    let items = node.items(problems);
    if items.is_empty() || items.len() > MOST {
        let message = format!("needs 1 to {MOST} responses");
        problems.push(StubProblem::invalid(&node.pointer, message));
    }
    items
        .iter()
        .filter_map(|item| read_alternative(item, around, problems))
        .collect()
}

fn read_alternative(
    node: &Node<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Option<(f64, Alternative)> {
    let mut object = node.object(problems)?;
    let weight = object.required("weight", problems);
    let weight = weight.and_then(|node| match node.number(problems)? {
        weight if weight > 0.0 => Some(weight),
        _ => node.wrong("a number above 0", problems),
    });
    let response = object.get("response");
    let response = response.and_then(|node| Response::read(&node, None, around, problems));
    if let Some(response) = &response {
        response.check_length(&node.pointer, problems);
    }
    let delivery = Delivery::read_extension(&mut object, problems);
    object.finish(&[], problems);
    Some((weight?, Alternative { response, delivery }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    /// How often each alternative is drawn lies within five standard errors of its share: √(n·p·(1−p)).
    #[test]
    fn lots_fall_by_their_weights() {
        let document = serde_json::json!({
            "errorRate": {"share": 0.1, "response": {"status": 503}},
            "responses": [{"weight": 6}, {"weight": 2, "response": {"status": 404}}, {"weight": 1, "hang": true}]
        });
        let mut problems = Problems::new();
        let mut object = Node::root(&document).object(&mut problems).unwrap();
        let alternatives =
            Alternatives::read(&mut object, &Surroundings::default(), &mut problems).unwrap();
        assert_eq!(problems, []);
        let mut index = 0;
        let numbered = alternatives.map(|_| {
            index += 1;
            index - 1
        });
        let mut counts = [0_u32; 4];
        let draws = 50_000;
        for draw in 0..draws {
            let picked = numbered.pick(&mut Draw::new(3, Stream::Delays, draw));
            counts[*picked.unwrap()] += 1;
        }
        for (count, share) in counts.iter().zip([0.1, 0.6, 0.2, 0.1]) {
            let expected = draws as f64 * share;
            let error = (expected * (1.0 - share)).sqrt();
            assert!(
                (f64::from(*count) - expected).abs() < 5.0 * error,
                "{counts:?}"
            );
        }
    }
}
