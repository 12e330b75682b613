//! The numbers of a record that can be metrics: name, unit and value of each are declared once, beside its definition.

/// Unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Times.
    Seconds,
    /// Rates.
    PerSecond,
    /// Whole numbers of things.
    Count,
    /// Fractions of one.
    Share,
    /// Sizes.
    Bytes,
    /// Processors.
    Cores,
}

/// One number of a record.
pub(crate) struct Figure<T> {
    /// Its name, in the record's type and in its file.
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) of: fn(&T) -> Option<f64>,
}

/// A record whose numbers can be metrics.
pub(crate) trait Figures: Sized + 'static {
    /// Its numbers.
    const FIGURES: &'static [Figure<Self>];
}

/// A field that is a number, or `None` where nobody looked.
pub(super) trait Number {
    fn number(&self) -> Option<f64>;
}

impl Number for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "as JSON has it")]
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl<T: Number> Number for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

/// Declares which numbers of a record can be metrics, with their units.
macro_rules! figures {
    ($record:ty { $($name:ident: $unit:ident),* $(,)? }) => {
        impl $crate::record::figures::Figures for $record {
            const FIGURES: &'static [$crate::record::figures::Figure<Self>] = &[
                $($crate::record::figures::Figure {
                    name: stringify!($name),
                    unit: $crate::record::figures::Unit::$unit,
                    of: |record| $crate::record::figures::Number::number(&record.$name),
                }),*
            ];
        }
    };
}

/// Defines a record of figures that probes see, each of which may be missing: for each its type, its unit, and how parts of a
/// record merge (`highest`, `sum` or `mean`).
macro_rules! merging_record {
    (
        $(#[$meta:meta])*
        pub struct $record:ident {
            $($(#[$doc:meta])* $name:ident: $kind:ty, $unit:ident, $rule:ident;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(default)]
        pub struct $record {
            $($(#[$doc])* pub $name: Option<$kind>,)*
        }

        impl $record {
            /// Adds another part's figures: counts add up, levels keep the highest, means are weighted by `seconds`.
            pub fn merge(&mut self, other: &Self, seconds: $crate::record::figures::Weights) {
                $($crate::record::figures::$rule(&mut self.$name, other.$name, seconds);)*
            }
        }

        $crate::record::figures::figures!($record { $($name: $unit),* });
    };
}

pub(super) use {figures, merging_record};

/// Seconds of two parts that are merged, own first.
pub(super) type Weights = (f64, f64);

/// Merges levels: the highest stays.
pub(super) fn highest<T: PartialOrd + Copy>(own: &mut Option<T>, added: Option<T>, _: Weights) {
    if let Some(added) = added
        && own.is_none_or(|own| added > own)
    {
        *own = Some(added);
    }
}

/// Merges counts: they add up.
pub(super) fn sum(own: &mut Option<u64>, added: Option<u64>, _: Weights) {
    if let Some(added) = added {
        *own = Some(own.unwrap_or(0).saturating_add(added));
    }
}

/// Merges means: each counts by its time.
pub(super) fn mean(own: &mut Option<f64>, added: Option<f64>, (first, second): Weights) {
    *own = match (*own, added) {
        (Some(a), Some(b)) if first + second > 0.0 => {
            Some((a * first + b * second) / (first + second))
        }
        (a, b) => a.or(b),
    };
}
