//! Whether each of some items can have a place of its own among those that it may take: Kuhn's augmenting paths, within a budget.

use crate::budget::{Budget, TooCostly};

/// Places in one word.
const BITS: usize = 64;

/// Whether there is a place for every item; `may` says which item may take which place.
pub(super) fn exists(
    items: usize,
    places: usize,
    budget: &Budget,
    mut may: impl FnMut(usize, usize) -> Result<bool, TooCostly>,
) -> Result<bool, TooCostly> {
    let mut choices = Vec::with_capacity(items);
    for item in 0..items {
        let mut choice = vec![0u64; places.div_ceil(BITS)];
        let mut any = false;
        for place in 0..places {
            if may(item, place)? {
                choice[place / BITS] |= 1 << (place % BITS);
                any = true;
            }
        }
        if !any {
            return Ok(false);
        }
        choices.push(choice);
    }
    let mut owner = vec![None; places];
    for item in 0..items {
        if !claim(item, &choices, &mut owner, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds a place for an item, moving others out of the way where they can go. The items that are on their way are in a list: there may be many.
fn claim(
    item: usize,
    choices: &[Vec<u64>],
    owner: &mut [Option<usize>],
    budget: &Budget,
) -> Result<bool, TooCostly> {
    let mut asked = vec![0u64; owner.len().div_ceil(BITS)];
    // Each with the place that it has been promised, if its owner finds another.
    let mut path: Vec<(usize, Option<usize>)> = vec![(item, None)];
    while let Some((item, promised)) = path.last_mut() {
        let mut next = None;
        for (index, (choice, asked)) in choices[*item].iter().zip(&mut asked).enumerate() {
            budget.spend(1)?;
            let open = choice & !*asked;
            if open != 0 {
                *asked |= open & open.wrapping_neg();
                next = Some(index * BITS + open.trailing_zeros() as usize);
                break;
            }
        }
        *promised = next;
        match next.map(|place| owner[place]) {
            None => {
                path.pop();
            }
            Some(Some(other)) => path.push((other, None)),
            Some(None) => {
                for (item, promised) in path {
                    if let Some(place) = promised {
                        owner[place] = Some(item);
                    }
                }
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(choices: &[&[usize]], places: usize, expected: bool) {
        let budget = Budget::for_bytes(0);
        let may = |item: usize, place| Ok(choices[item].contains(&place));
        let actual = exists(choices.len(), places, &budget, may);
        assert_eq!(actual, Ok(expected), "{choices:?}");
    }

    #[test]
    fn items_make_room_for_each_other() {
        check(&[], 0, true);
        check(&[&[0]], 1, true);
        check(&[&[]], 1, false);
        check(&[&[0], &[0]], 2, false);
        check(&[&[0, 1], &[0]], 2, true);
        check(&[&[0, 1], &[0, 2], &[0]], 3, true);
        check(&[&[0, 1], &[0, 1], &[0, 1]], 3, false);
        check(&[&[69, 70], &[69]], 71, true);
    }
}
