//! From the generator's fragments to the record: an arm's data of one block, rows of the series, histograms by tag.

mod rows;

use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::tally::{StepTally, merge_times};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::record::{ArmData, Backlog, Completions, LoadModel, Second};

/// A second counts as a full one from this length on.
const FULL_SECOND: f64 = 0.999;

/// The second nearest to the middle is where the second half begins.
const HALF_A_SECOND: f64 = 0.5;

/// Collects one arm's load in one block.
#[derive(Debug)]
pub struct Collector {
    data: ArmData,
    block: u32,
    steps: Vec<String>,
    /// When the load began, in seconds since the run began.
    start: f64,
    waiting: u64,
    /// When the second half of the measured time begins, in seconds since the load began.
    middle: f64,
    /// Late completions of the warm-up's arrivals in the second that comes next.
    carried: Option<Carried>,
}

/// Work of the warm-up's arrivals within one second of the measured time.
#[derive(Debug, Clone, Default)]
struct Carried {
    /// Where it begins, in seconds since the load began.
    start_s: f64,
    completions: Completions,
    in_flight: u64,
    active_users: u64,
}

impl Collector {
    /// Collects into `data`, which is empty; `steps` are the plan's, in its order.
    #[must_use]
    pub fn new(mut data: ArmData, block: u32, steps: Vec<String>) -> Self {
        for step in &steps {
            data.steps.insert(step.clone(), StepTally::default());
        }
        Self {
            data,
            block,
            steps,
            start: 0.0,
            waiting: 0,
            middle: f64::INFINITY,
            carried: None,
        }
    }

    /// Also follows the backlog over the half of the measured time that begins at `middle`, in seconds since the load began.
    #[must_use]
    pub fn halved_at(self, middle: f64) -> Self {
        Self { middle, ..self }
    }

    /// Says when the load began, in seconds since the run began.
    pub fn begin_at(&mut self, start: f64) {
        self.start = start;
    }

    /// Takes a fragment into account. Only its measured side enters the arm's data, but for the throughput, which counts
    /// what was answered in the measured time, for whichever arrivals.
    pub fn add(&mut self, fragment: &Fragment) {
        let fastest = published(fragment, TimeKind::ServiceTime).min();
        let known = self.data.fastest_service_s.into_iter().chain(fastest);
        self.data.fastest_service_s = known.reduce(f64::min);
        let after_its_phase = fragment.length_s == 0.0;
        if fragment.warmup {
            if after_its_phase {
                self.carried = Some(Carried {
                    start_s: fragment.start_s,
                    completions: self.completions(fragment),
                    in_flight: in_flight(fragment),
                    active_users: fragment.in_flight,
                });
            }
            return;
        }
        if after_its_phase {
            self.data.late.merge(&self.completions(fragment));
        } else if let Some(carried) = self.carried_into(fragment).cloned() {
            self.data.of_warmup.merge(&carried.completions);
        }
        self.data.seconds += fragment.length_s;
        self.data.intended += fragment.intended;
        self.data.scheduled += fragment.due.unwrap_or(0);
        self.data.sent += fragment.sent;
        self.data.dropped += fragment.dropped;
        self.data.dropped_by_generator += fragment.dropped_late;
        self.data.connected += fragment.connected;
        self.data.reconnected += fragment.reconnected;
        if fragment.length_s >= FULL_SECOND && self.data.model == LoadModel::Open {
            self.data.observe_second(Second {
                intended: fragment.due.unwrap_or(fragment.intended),
                sent: fragment.sent,
                dropped: fragment.dropped,
                waiting_before: self.waiting,
                waiting_after: fragment.waiting,
            });
        }
        self.waiting = fragment.waiting;
        if !after_its_phase {
            self.data.in_flight_s += fragment.in_flight_s;
            self.follow_backlog(fragment);
        }
        merge_times(&mut self.data.times, &fragment.iterations);
        for (step, name) in fragment.steps.iter().zip(&self.steps) {
            if let Some(own) = self.data.steps.get_mut(name) {
                own.merge(step);
                let second = self.start + fragment.start_s;
                self.data.failures.observe(name, second, step);
                // A gauge, not a count: the last one holds.
                own.in_flight = step.in_flight;
            }
        }
        for (name, group) in &fragment.groups {
            let own = self.data.groups.entry(name.clone()).or_default();
            own.merge(group);
        }
    }

    /// The backlog at the end of each second from the middle on.
    fn follow_backlog(&mut self, fragment: &Fragment) {
        let end_s = fragment.start_s + fragment.length_s;
        if fragment.length_s < FULL_SECOND || end_s < self.middle - HALF_A_SECOND {
            return;
        }
        let carried = self.carried_into(fragment);
        let carried = carried.map_or(0, |carried| carried.in_flight);
        let now = in_flight(fragment) + carried + fragment.waiting;
        match &mut self.data.backlog {
            None => {
                self.data.backlog = Some(Backlog {
                    middle: now,
                    end: now,
                    ..Backlog::default()
                });
            }
            Some(backlog) => {
                backlog.end = now;
                backlog.seconds += fragment.length_s;
                backlog.dropped += fragment.dropped;
            }
        }
    }

    /// Late completions of the warm-up's arrivals in the time of a fragment of the measured side.
    fn carried_into(&self, fragment: &Fragment) -> Option<&Carried> {
        let carried = self.carried.as_ref()?;
        let same = carried.start_s.to_bits() == fragment.start_s.to_bits();
        (!fragment.warmup && same).then_some(carried)
    }

    /// Completions of a fragment, by the names of its steps.
    fn completions(&self, fragment: &Fragment) -> Completions {
        let steps = self.steps.iter().zip(&fragment.steps);
        Completions::of(steps, &fragment.groups)
    }

    /// The arm's data so far.
    pub fn data_mut(&mut self) -> &mut ArmData {
        &mut self.data
    }

    /// The arm's data. Arrivals that still wait, because the load was cut off, never started.
    #[must_use]
    pub fn into_data(mut self) -> ArmData {
        self.data.dropped += self.waiting;
        self.data
    }
}

/// Exchanges under way at the fragment's end, over all steps.
fn in_flight(fragment: &Fragment) -> u64 {
    fragment.steps.iter().map(|step| step.in_flight).sum()
}

/// Times of one kind over all steps, of the classes whose times are published.
pub(crate) fn published(fragment: &Fragment, kind: TimeKind) -> TimeHistogram {
    let mut merged = TimeHistogram::new();
    for step in &fragment.steps {
        step.add_to(kind, &mut merged);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::tally::ClassTally;
    use plimsoll_report::record::Answers;
    use std::time::Duration;

    fn fragment(warmup: bool, start_s: f64, length_s: f64) -> Fragment {
        let mut response = TimeHistogram::new();
        response.record(Duration::from_millis(10));
        let passed = ClassTally {
            count: 8,
            times: [(TimeKind::ResponseTime, response.clone())].into(),
            ..ClassTally::default()
        };
        let refused = ClassTally {
            count: 1,
            times: [(TimeKind::ResponseTime, response)].into(),
            ..ClassTally::default()
        };
        Fragment {
            start_s,
            length_s,
            covered_s: if length_s > 0.0 { length_s } else { 1.0 },
            warmup,
            intended: 10,
            sent: 9,
            dropped: 1,
            in_flight: 4,
            steps: vec![StepTally {
                sent: 9,
                in_flight: 3,
                statuses: [(200, 8)].into(),
                classes: [
                    (OutcomeClass::Passed, passed),
                    (OutcomeClass::Refused, refused),
                ]
                .into(),
                ..StepTally::default()
            }],
            ..Fragment::default()
        }
    }

    fn collector() -> Collector {
        let data = ArmData::new("a", "up", LoadModel::Open, Some(10.0));
        Collector::new(data, 2, vec!["get /".to_owned()])
    }

    #[test]
    fn warm_up_stays_out_of_the_arms_data() {
        let mut collector = collector();
        collector.add(&fragment(true, 0.0, 1.0));
        collector.add(&fragment(false, 1.0, 1.0));
        collector.add(&fragment(false, 2.0, 0.5));
        let data = collector.into_data();
        assert_eq!(
            (data.intended, data.sent, data.dropped, data.seconds),
            (20, 18, 2, 1.5)
        );
        assert_eq!(data.steps["get /"].in_flight, 3);
        assert_eq!(data.count(OutcomeClass::Passed), 16);
        assert_eq!(data.worst_second, Some(1.0));
    }

    #[test]
    fn throughput_counts_what_is_answered_in_the_measured_time() {
        let of = |warmup, second, length_s| Fragment {
            second,
            ..fragment(warmup, f64::from(second), length_s)
        };
        let mut collector = collector();
        collector.add(&of(true, 0, 1.0));
        // The warm-up's backlog is still served in the first measured second.
        collector.add(&of(true, 1, 0.0));
        let measured = of(false, 1, 1.0);
        collector.add(&measured);
        let row = collector.row(&measured);
        assert_eq!((row.achieved_per_s, row.in_flight), (16.0, 6));
        // Answers after the end of the load are outcomes, but no throughput.
        collector.add(&of(false, 2, 0.0));
        let data = collector.into_data();
        let answers = Answers {
            answered: 8,
            good: 8,
        };
        assert_eq!(data.of_warmup.total(), answers);
        assert_eq!(data.late.total(), answers);
        let within = data.within().step("get /");
        assert_eq!((within.answered, within.good), (16, 16));
        assert_eq!(data.count(OutcomeClass::Passed), 16);
    }

    #[test]
    fn what_waits_when_a_load_is_cut_off_never_started() {
        let mut collector = collector();
        collector.add(&Fragment {
            waiting: 3,
            intended: 13,
            ..fragment(false, 0.0, 1.0)
        });
        let data = collector.into_data();
        assert_eq!((data.intended, data.sent + data.dropped), (13, 13));
    }

    #[test]
    fn rows_are_per_second_and_leave_refused_times_out() {
        let mut collector = collector();
        collector.begin_at(7.0);
        let row = collector.row(&fragment(false, 1.0, 0.5));
        assert_eq!(
            (row.t, row.offered_per_s, row.achieved_per_s, row.failed),
            (8.0, Some(20.0), 16.0, 1)
        );
        assert_eq!((row.sent_per_s, row.exchanges_per_s), (18.0, 18.0));
        assert_eq!(row.active_users, 4);
        assert!(collector.step_rows(&fragment(false, 1.0, 1.0)).is_empty());
        let late = collector.row(&fragment(false, 1.0, 0.0));
        assert_eq!((late.offered_per_s, late.achieved_per_s), (None, 8.0));
        let whole = fragment(false, 1.0, 1.0);
        let tagged = collector.tagged(&whole);
        let counts: Vec<(&str, u64)> = tagged
            .iter()
            .map(|(tag, histogram)| (tag.as_str(), histogram.count()))
            .collect();
        assert_eq!(
            counts,
            [
                ("response_time", 1),
                ("service_time", 0),
                ("first_byte_time", 0),
                ("body_time", 0),
                ("get%20%2F/passed/response_time", 1),
                ("get%20%2F/refused/response_time", 1),
            ]
        );
    }

    /// One exchange: when its iteration was intended, how long after that it ended, both in µs, of which step, and how.
    type Raw = (u64, u64, usize, OutcomeClass);

    /// The fragments of a load of such exchanges, cut as the generator does: at whole seconds and at the ends of phases.
    fn fragments(warmup: u64, total: u64, exchanges: &[Raw]) -> Vec<Fragment> {
        let last = exchanges.iter().map(|(intended, took, ..)| intended + took);
        let last = last.max().unwrap_or(0).max(total);
        let mut cuts: Vec<u64> = (0..=last / 1_000_000 + 1).map(|n| n * 1_000_000).collect();
        cuts.extend([warmup, total]);
        cuts.sort_unstable();
        cuts.dedup();
        let pieces = cuts.windows(2).map(|ends| (ends[0], ends[1]));
        let sides = pieces.flat_map(|piece| [(piece, true), (piece, false)]);
        let sides = sides.filter(|((from, _), is_warmup)| *is_warmup || *from >= warmup);
        let seconds = |micros: u64| Duration::from_micros(micros).as_secs_f64();
        let one = |((from, to), is_warmup): ((u64, u64), bool)| {
            let mut steps = vec![StepTally::default(); 2];
            for (intended, took, step, class) in exchanges {
                if (*intended < warmup) == is_warmup && (from..to).contains(&(intended + took)) {
                    steps[*step].classes.entry(*class).or_default().count += 1;
                }
            }
            let phase_end = if is_warmup { warmup } else { total };
            Fragment {
                start_s: seconds(from),
                length_s: if to <= phase_end {
                    seconds(to - from)
                } else {
                    0.0
                },
                covered_s: seconds(to - from),
                warmup: is_warmup,
                steps,
                ..Fragment::default()
            }
        };
        sides.map(one).collect()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        /// For any warm-up, duration (or moment of a stop) and exchanges: the figures of an arm, which are those of a level and of a trial too,
        /// of its steps and of its seconds are what a list of all exchanges says.
        #[test]
        fn throughput_is_what_a_list_of_exchanges_says(
            warmup in 0_u64..2_500_000,
            duration in 1_000_u64..4_000_000,
            raw in proptest::collection::vec((0.0_f64..1.0, 0_u64..3_000_000, 0_usize..2, 0_usize..3), 0..60),
        ) {
            let total = warmup + duration;
            let classes = [OutcomeClass::Passed, OutcomeClass::CheckFailed, OutcomeClass::Refused];
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            let exchange = |(at, took, step, class): &(f64, u64, usize, usize)| {
                ((at * total as f64) as u64, *took, *step, classes[*class])
            };
            let exchanges: Vec<Raw> = raw.iter().map(exchange).collect();
            let data = ArmData::new("a", "up", LoadModel::Open, Some(10.0));
            let names = ["one", "two"].map(str::to_owned);
            let mut collector = Collector::new(data, 1, names.to_vec());
            let mut by_rows = [0.0; 2];
            for fragment in fragments(warmup, total, &exchanges) {
                collector.add(&fragment);
                let row = collector.row(&fragment);
                if !fragment.warmup && fragment.length_s > 0.0 {
                    by_rows[0] += row.achieved_per_s * fragment.covered_s;
                    by_rows[1] += row.good_per_s * fragment.covered_s;
                }
            }
            let figures = plimsoll_report::summarise::figures(&collector.into_data());
            let within = |step: Option<usize>, class: &[OutcomeClass]| {
                let counted = exchanges.iter().filter(|(intended, took, of, how)| {
                    (warmup..total).contains(&(intended + took))
                        && step.is_none_or(|step| step == *of)
                        && class.contains(how)
                });
                counted.count() as f64
            };
            let seconds = Duration::from_micros(duration).as_secs_f64();
            let near = |actual: f64, expected: f64| (actual - expected).abs() < 1e-6;
            let (answered, good) = (&classes[..2], &classes[..1]);
            proptest::prop_assert!(near(figures.seconds, seconds));
            for (place, class) in [answered, good].into_iter().enumerate() {
                let per_s = [figures.achieved_per_s, figures.good_per_s][place].unwrap();
                proptest::prop_assert!(near(per_s * seconds, within(None, class)), "{per_s}");
                proptest::prop_assert!(near(by_rows[place], within(None, class)), "{by_rows:?}");
                for (number, name) in names.iter().enumerate() {
                    let step = &figures.by_step[name];
                    let per_s = [step.achieved_per_s, step.good_per_s][place].unwrap();
                    proptest::prop_assert!(near(per_s * seconds, within(Some(number), class)), "{name}");
                }
            }
        }
    }
}
