//! A scenario compiled: instructions in a row, with jumps where the plan has branches, so that an iteration is one flat loop.
//!
//! Compiling is also how a plan is checked: what cannot be compiled is a problem of the plan, at its place.

use super::check::Judge;
use super::condition::Test;
use super::cookie::Security;
use super::feeder::Feeder;
use super::memory::{Memory, Sizes};
use super::request::{Making, Manner, expects_body, is_constant};
use super::value::{Names, is_given};
use crate::plan::text::is_value_name;
use crate::plan::{
    Action, AtEnd, Choice, ConnectionPolicy, Cookies, Dealing, FeederField, Follow,
    GROUP_SEPARATOR, Load, Order, Plan, PlanPlace, PlanProblem, ScenarioPlace, Span, StepPlace,
    group_path, steps_of,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The generator's name in `User-Agent`.
pub(crate) const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));
/// Loops, groups and branches nest no deeper.
const MAX_DEPTH: usize = 32;

/// Everything that users carry out, shared by all of them.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) feeders: Arc<Vec<Feeder>>,
    /// By step of the plan.
    pub(crate) steps: Vec<CompiledStep>,
    /// By scenario of the plan.
    pub(crate) ways: Vec<Vec<Instruction>>,
    /// Names of groups with those around them.
    pub(crate) groups: Vec<String>,
    pub(crate) cookies: Cookies,
    pub(crate) security: Security,
    sizes: Sizes,
    seed: u64,
}

/// One step.
#[derive(Debug)]
pub(crate) struct CompiledStep {
    /// `None`: the request is always the same.
    pub(crate) making: Option<Box<Making>>,
    pub(crate) judge: Judge,
    pub(crate) follow: Option<Follow>,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub(crate) enum Instruction {
    /// The exchange at this place of the plan's steps.
    Step(usize),
    /// The iteration needs rows of these feeders; they are dealt as it begins.
    Deal(Vec<usize>),
    /// Wait.
    Pause(Span),
    /// Go on at one of these places, by weight.
    Choose(Choices),
    /// Go on at this place.
    Jump(usize),
    /// Go on at this place unless it holds.
    Unless(Test, usize),
    /// A loop begins: so many rounds.
    Enter { place: usize, times: u32 },
    /// The round of a loop is over: go on at this place while there is one left.
    Again { place: usize, from: usize },
    /// This group begins.
    Open(usize),
    /// The group that began last is over.
    Close,
}

/// Ways to choose from.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// The weight of each and of all before it, and where it begins.
    ways: Vec<(u64, usize)>,
}

impl Choices {
    /// Where to go on.
    pub(crate) fn choose(&self, memory: &mut Memory) -> usize {
        let total = self.ways.last().map_or(0, |(weight, _)| *weight);
        let drawn = memory.ways().below(total);
        let way = self.ways.partition_point(|(weight, _)| *weight <= drawn);
        self.ways[way].1
    }
}

impl Program {
    /// Compiles what the virtual users of a plan do.
    ///
    /// # Errors
    /// Every problem.
    pub(crate) fn compile(plan: &Plan) -> Result<Self, Vec<PlanProblem>> {
        let mut problems = Vec::new();
        let feeders = read_feeders(plan, &mut problems);
        check_names(plan, &feeders, &mut problems);
        let extracted = plan.steps.iter().flat_map(|step| &step.extract);
        let later: HashSet<String> = extracted.map(|extract| extract.name.clone()).collect();
        let names = Names::new(&plan.data.values, &feeders, later);
        let mut compiler = Compiler {
            plan,
            names,
            steps: plan.steps.iter().map(|_| None).collect(),
            needs: vec![BTreeSet::new(); plan.steps.len()],
            tested: BTreeSet::new(),
            problems,
            instructions: Vec::new(),
            groups: Vec::new(),
            within: Vec::new(),
            conditions: 0,
            pauses: 0,
            loops: 0,
            depth: 0,
            deepest_group: 0,
        };
        let mut ways = Vec::new();
        for (index, scenario) in plan.scenarios.iter().enumerate() {
            compiler.scenario(
                &scenario.program,
                PlanPlace::Scenario(index, ScenarioPlace::Program),
            );
            ways.push(std::mem::take(&mut compiler.instructions));
        }
        for index in 0..plan.steps.len() {
            compiler.step(index);
        }
        compiler.finish(feeders, ways)
    }

    /// The memory of a user that has done nothing yet.
    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.seed, self.sizes)
    }
}

struct Compiler<'a> {
    plan: &'a Plan,
    names: Names,
    steps: Vec<Option<CompiledStep>>,
    /// By step: the feeders that it needs.
    needs: Vec<BTreeSet<usize>>,
    /// The feeders that conditions need, of what is being compiled.
    tested: BTreeSet<usize>,
    problems: Vec<PlanProblem>,
    instructions: Vec<Instruction>,
    groups: Vec<String>,
    /// The names of the groups around what is being compiled, outermost first.
    within: Vec<String>,
    /// Compiled so far: problems name them by their number.
    conditions: usize,
    pauses: usize,
    loops: usize,
    depth: usize,
    deepest_group: usize,
}

impl Compiler<'_> {
    fn refuse(&mut self, place: PlanPlace, message: impl Into<String>) {
        self.problems.push(PlanProblem {
            place,
            message: message.into(),
        });
    }

    /// Compiles a program. Where it is one mix and nothing else, each way of that says which rows it needs.
    fn scenario(&mut self, program: &[Action], at: PlanPlace) {
        match program {
            [Action::Mix(_)] => self.actions(program, at),
            _ => self.with_rows(program, at),
        }
    }

    /// Compiles actions after the rows that they need, where these are dealt to who needs them.
    fn with_rows(&mut self, actions: &[Action], at: PlanPlace) {
        let deal = self.instructions.len();
        if self.plan.data.dealing == Dealing::Numbered {
            return self.actions(actions, at);
        }
        self.instructions.push(Instruction::Deal(Vec::new()));
        self.tested.clear();
        self.actions(actions, at);
        let mut needed = std::mem::take(&mut self.tested);
        steps_of(actions, &mut |step| {
            needed.extend(self.needs.get(step).into_iter().flatten());
        });
        self.instructions[deal] = Instruction::Deal(needed.into_iter().collect());
    }

    fn actions(&mut self, actions: &[Action], at: PlanPlace) {
        if self.depth == MAX_DEPTH {
            self.refuse(at, format!("nests deeper than {MAX_DEPTH}"));
            return;
        }
        self.depth += 1;
        for action in actions {
            self.action(action, at);
        }
        self.depth -= 1;
    }

    fn action(&mut self, action: &Action, at: PlanPlace) {
        match action {
            Action::Step(step) if *step < self.plan.steps.len() => {
                self.step(*step);
                self.instructions.push(Instruction::Step(*step));
            }
            Action::Step(step) => self.refuse(at, format!("there is no step {step}")),
            Action::Pause(span) => {
                let number = self.pauses;
                self.pauses += 1;
                if let Some(message) = span.problem() {
                    self.refuse(PlanPlace::Pause(number), message);
                }
                self.instructions.push(Instruction::Pause(*span));
            }
            Action::Mix(choices) => self.mix(choices, at),
            Action::Repeat { times, actions } => {
                // A later round knows what an earlier one extracted.
                self.foresee(actions);
                let place = self.loops;
                self.loops += 1;
                if *times == 0 {
                    self.refuse(at, "repeats something 0 times: leave it out");
                }
                self.instructions.push(Instruction::Enter {
                    place,
                    times: *times,
                });
                let from = self.instructions.len();
                self.actions(actions, at);
                self.instructions.push(Instruction::Again { place, from });
            }
            Action::If {
                condition,
                then,
                otherwise,
            } => {
                let number = self.conditions;
                self.conditions += 1;
                let test = Test::compile(condition, &mut self.names);
                self.tested.extend(self.names.take_feeders());
                let test = match test {
                    Ok(test) => test,
                    Err(message) => return self.refuse(PlanPlace::Condition(number), message),
                };
                let unless = self.instructions.len();
                self.instructions.push(Instruction::Jump(0));
                self.actions(then, at);
                let jump = self.instructions.len();
                self.instructions.push(Instruction::Jump(0));
                let other = self.instructions.len();
                self.actions(otherwise, at);
                self.instructions[unless] = Instruction::Unless(test, other);
                self.instructions[jump] = Instruction::Jump(self.instructions.len());
            }
            Action::Group { name, actions } => self.group(name, actions, at),
        }
    }

    fn mix(&mut self, choices: &[Choice], at: PlanPlace) {
        if choices.iter().any(|choice| choice.weight == 0) {
            self.refuse(at, "a weight of 0 is never chosen: leave the choice out");
        }
        let choose = self.instructions.len();
        self.instructions.push(Instruction::Jump(0));
        let mut ways = Vec::new();
        let mut jumps = Vec::new();
        let mut total = 0;
        for choice in choices {
            total += u64::from(choice.weight);
            ways.push((total, self.instructions.len()));
            if choose == 0 {
                self.with_rows(&choice.actions, at);
            } else {
                self.actions(&choice.actions, at);
            }
            jumps.push(self.instructions.len());
            self.instructions.push(Instruction::Jump(0));
        }
        if ways.is_empty() {
            self.refuse(at, "a mix has at least one choice");
        }
        let end = self.instructions.len();
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(end);
        }
        self.instructions[choose] = Instruction::Choose(Choices { ways });
    }

    fn group(&mut self, name: &str, actions: &[Action], at: PlanPlace) {
        if name.is_empty() || name.contains(GROUP_SEPARATOR) {
            let message = format!("`{name}` cannot name a group: leave `{GROUP_SEPARATOR}` out");
            self.refuse(at, message);
        }
        let path = group_path(&self.within, name);
        let known = self.groups.iter().position(|known| *known == path);
        let group = known.unwrap_or_else(|| {
            self.groups.push(path);
            self.groups.len() - 1
        });
        self.within.push(name.to_owned());
        self.deepest_group = self.deepest_group.max(self.within.len());
        self.instructions.push(Instruction::Open(group));
        self.actions(actions, at);
        self.instructions.push(Instruction::Close);
        self.within.pop();
    }

    fn foresee(&mut self, actions: &[Action]) {
        let mut steps = Vec::new();
        steps_of(actions, &mut |step| steps.push(step));
        for step in steps.iter().filter_map(|step| self.plan.steps.get(*step)) {
            for extract in &step.extract {
                self.names.slot(&extract.name);
            }
        }
    }

    /// Compiles a step when the names are known that hold before it.
    fn step(&mut self, index: usize) {
        if self.steps[index].is_some() {
            return;
        }
        let step = &self.plan.steps[index];
        let manner = Manner {
            authority: &self.plan.target.authority,
            user_agent: USER_AGENT,
            expects_body: expects_body(&step.method),
            sends_cookies: self.plan.data.cookies == Cookies::Keep,
            closes: self.plan.connections.policy == ConnectionPolicy::PerExchange,
        };
        let mut problems = Vec::new();
        let making = Making::compile(step, manner, &mut self.names, &mut problems);
        let judge = Judge::compile(step, &mut self.names, &mut problems);
        self.needs[index] = self.names.take_feeders();
        for (place, message) in problems {
            self.refuse(PlanPlace::Step(index, place), message);
        }
        let varies = !is_constant(step) || manner.sends_cookies || step.follow.is_some();
        self.steps[index] = Some(CompiledStep {
            making: varies.then(|| Box::new(making)),
            judge,
            follow: step.follow,
        });
    }

    fn finish(
        self,
        feeders: Vec<Feeder>,
        ways: Vec<Vec<Instruction>>,
    ) -> Result<Program, Vec<PlanProblem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let sizes = Sizes {
            slots: self.names.slots(),
            feeders: feeders.len(),
            counters: self.names.counters(),
            loops: self.loops,
            groups: self.deepest_group,
        };
        Ok(Program {
            feeders: Arc::new(feeders),
            steps: self.steps.into_iter().flatten().collect(),
            ways,
            groups: self.groups,
            cookies: self.plan.data.cookies,
            security: match self.plan.connections.tls {
                Some(_) => Security::Tls,
                None => Security::Clear,
            },
            sizes,
            seed: self.plan.seed,
        })
    }
}

fn read_feeders(plan: &Plan, problems: &mut Vec<PlanProblem>) -> Vec<Feeder> {
    let mut feeders = Vec::new();
    for (index, feeder) in plan.data.feeders.iter().enumerate() {
        let mut refuse = |field, message: String| {
            problems.push(PlanProblem {
                place: PlanPlace::Feeder(index, field),
                message,
            });
        };
        let open = |scenario: &crate::plan::Scenario| matches!(scenario.load, Load::Open { .. });
        if feeder.at_end == AtEnd::Stop && plan.scenarios.iter().any(open) {
            refuse(
                FeederField::AtEnd,
                "`stop` is for the closed model, for a schedule does not end early: write `repeat` or `error`".to_owned(),
            );
        }
        match Feeder::read(feeder, plan.seed, index, plan.data.dealing) {
            Err(error) => refuse(FeederField::Text, error.to_string()),
            Ok(read) => {
                if feeder.order == Order::Unique && plan.users() > read.rows() {
                    refuse(
                        FeederField::Order,
                        format!(
                            "there are {} virtual users and only {} rows, so not each can have its own",
                            plan.users(),
                            read.rows()
                        ),
                    );
                }
                feeders.push(read);
            }
        }
    }
    feeders
}

/// Each name stands for one thing.
fn check_names(plan: &Plan, feeders: &[Feeder], problems: &mut Vec<PlanProblem>) {
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut take = |name: &str, what: String, place: PlanPlace| {
        let problem = if !is_value_name(name) {
            Some(format!(
                "`{name}` cannot name a value: write a letter or `_`, then letters, digits, `_` and `-`"
            ))
        } else if is_given(name) {
            Some(format!(
                "there is a value `{name}` always: choose another name"
            ))
        } else {
            let earlier = taken.get(name);
            earlier.map(|other| format!("`{name}` names {other} already: choose another name"))
        };
        match problem {
            Some(message) => problems.push(PlanProblem { place, message }),
            None => drop(taken.insert(name.to_owned(), what)),
        }
    };
    for (index, (name, _)) in plan.data.values.iter().enumerate() {
        take(name, "a value".to_owned(), PlanPlace::Value(index));
    }
    for feeder in feeders {
        for column in feeder.columns() {
            let what = format!("a column of the feeder `{}`", feeder.name);
            take(
                column,
                what,
                PlanPlace::Feeder(feeder.place, FeederField::Text),
            );
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        for (place, extract) in step.extract.iter().enumerate() {
            let name = &extract.name;
            let message = if !is_value_name(name) {
                format!(
                    "`{name}` cannot name a value: write a letter or `_`, then letters, digits, `_` and `-`"
                )
            } else if is_given(name) || taken.contains_key(name) {
                format!("`{name}` names another value already: choose another name")
            } else {
                continue;
            };
            problems.push(PlanProblem {
                place: PlanPlace::Step(index, StepPlace::Extract(place)),
                message,
            });
        }
    }
}
