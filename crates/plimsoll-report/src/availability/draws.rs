//! Random values that the chances of failures and the number of faults are drawn from.

use plimsoll_base::random::Draw;

/// Gamma of this shape, which must be positive, and scale 1 (Marsaglia and Tsang, 2000).
pub(super) fn gamma(shape: f64, draw: &mut Draw) -> f64 {
    if shape < 1.0 {
        let boost = (1.0 - draw.unit()).powf(1.0 / shape);
        return gamma(shape + 1.0, draw) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = (9.0 * d).sqrt().recip();
    loop {
        let normal = draw.normal();
        let cube = (1.0 + c * normal).powi(3);
        let accepted =
            (1.0 - draw.unit()).ln() < 0.5 * normal * normal + d * (1.0 - cube + cube.ln());
        if cube > 0.0 && accepted {
            return d * cube;
        }
    }
}

/// Beta of these shapes; 0 or 1 where one of them is none.
pub(super) fn beta(a: f64, b: f64, draw: &mut Draw) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    if b <= 0.0 {
        return 1.0;
    }
    let (x, y) = (gamma(a, draw), gamma(b, draw));
    x / (x + y)
}

/// Above this mean a number of events is taken as normal.
const MANY: f64 = 1_000.0;

/// Number of events at this mean: exponential distances, added up.
pub(super) fn poisson(mean: f64, draw: &mut Draw) -> u32 {
    if mean > MANY {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "such a cast stops at the ends of its type"
        )]
        return (mean + mean.sqrt() * draw.normal()).round() as u32;
    }
    let mut events = 0;
    let mut at = draw.exponential();
    while at < mean {
        events += 1;
        at += draw.exponential();
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    /// Over 20,000 draws each mean lies within five standard errors of its expectation.
    #[test]
    fn means() {
        let check = |expected: f64, deviation: f64, draw_one: &dyn Fn(&mut Draw) -> f64| {
            let mut draw = Draw::new(3, Stream::Data, 0);
            let mean = (0..20_000).map(|_| draw_one(&mut draw)).sum::<f64>() / 20_000.0;
            let off = (mean - expected).abs();
            assert!(
                off < 5.0 * deviation / 20_000.0_f64.sqrt(),
                "{mean}, not {expected}"
            );
        };
        for shape in [0.5_f64, 1.0, 4.5, 60.0] {
            check(shape, shape.sqrt(), &|draw| gamma(shape, draw));
            check(
                shape * (shape + 1.0),
                3.0 * (shape + 1.0).powf(1.5),
                &|draw| gamma(shape, draw).powi(2),
            );
            check(shape, shape.sqrt(), &|draw| f64::from(poisson(shape, draw)));
        }
        check(1e4, 1e2, &|draw| f64::from(poisson(1e4, draw)));
        check(1.0 / 61.0, 1.0 / 60.0, &|draw| beta(1.0, 60.0, draw));
        check(0.0, 1.0, &|draw| beta(0.0, 60.0, draw));
        check(1.0, 1.0, &|draw| beta(60.0, 0.0, draw));
    }
}
