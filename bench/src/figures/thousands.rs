//! Whole numbers as a table has them.

/// A number with a comma behind its thousands.
pub fn thousands(number: u32) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        above => format!("{above},{:03}", number % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_a_comma() {
        let check = |number, expected| assert_eq!(thousands(number), expected);
        check(50, "50");
        check(1_000, "1,000");
        check(10_050, "10,050");
    }
}
