//! Figures as loosely as a source may state them: "below 25 %", "idle", "some failed". Nothing is made more precise than it was written.

use super::{BUSY, IDLE, percent};
use plimsoll_base::units::parse_share;

/// How much of its processors' time somebody used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Used {
    /// This share.
    Share(f64),
    /// Less than this share.
    Below(f64),
    /// More than this share.
    Above(f64),
    /// Hardly any: the source has no figure.
    Idle,
}

impl Used {
    /// Reads `25%`, `below 25%`, `above 100%` or `idle`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let share = |text: &str| {
            parse_share(text.trim()).map_err(|_| {
                format!("`{text}` is not a share: write `25%`, `below 25%`, `above 100%` or `idle`")
            })
        };
        match text.split_once(' ') {
            Some(("below", rest)) => share(rest).map(Self::Below),
            Some(("above", rest)) => share(rest).map(Self::Above),
            None if text == "idle" => Ok(Self::Idle),
            _ => share(text).map(Self::Share),
        }
    }

    /// Whether nothing was left to give.
    pub(crate) fn is_busy(self) -> bool {
        matches!(self, Self::Share(share) | Self::Above(share) if share >= BUSY)
    }

    /// Whether so much was left that nobody waited for it.
    pub(crate) fn is_idle(self) -> bool {
        match self {
            Self::Share(share) => share < IDLE,
            Self::Below(share) => share <= IDLE,
            Self::Above(_) => false,
            Self::Idle => true,
        }
    }

    /// The share, where the source has one.
    pub(crate) fn share(self) -> Option<f64> {
        match self {
            Self::Share(share) => Some(share),
            Self::Below(_) | Self::Above(_) | Self::Idle => None,
        }
    }

    /// In words, as they stand behind a name.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Share(share) => format!("{} of its processors' time", percent(share)),
            Self::Below(share) => format!("below {} of its processors' time", percent(share)),
            Self::Above(share) => format!("above {} of its processors' time", percent(share)),
            Self::Idle => "idle".to_owned(),
        }
    }
}

/// Whether requests failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Failed {
    /// None did.
    None,
    /// Some did: the source has no figure.
    Some,
    /// This share did, which is not 0.
    Share(f64),
}

impl Failed {
    /// Reads `none`, `some` or `1%`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "some" => Ok(Self::Some),
            _ => match parse_share(text) {
                Ok(share) if share > 0.0 => Ok(Self::Share(share)),
                Ok(_) => Ok(Self::None),
                Err(_) => Err(format!(
                    "`{text}` is not a share: write `1%`, `some` or `none`"
                )),
            },
        }
    }

    /// Whether it is certain that more failed than there.
    pub(crate) fn is_more_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Some | Self::Share(_), Self::None) => true,
            (Self::Share(here), Self::Share(there)) => here > there,
            _ => false,
        }
    }
}

/// Reads a part of a whole: `1/9`, `11%`, `0.11`.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let refused = || format!("`{text}` is not a part of a whole: write `1/9`, `11%` or `0.11`");
    let part = match text.split_once('/') {
        None => return parse_share(text).map_err(|_| refused()),
        Some((of, whole)) => of
            .trim()
            .parse::<u32>()
            .ok()
            .zip(whole.trim().parse::<u32>().ok()),
    };
    part.filter(|(of, whole)| *whole > 0 && of <= whole)
        .map(|(of, whole)| f64::from(of) / f64::from(whole))
        .ok_or_else(refused)
}
