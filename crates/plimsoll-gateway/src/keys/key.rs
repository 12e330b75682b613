//! A key: what it is granted, what it has spent, and how long it is known.

use super::KeyHash;
use super::allowance::{Quota, Spent};
use super::session::{self, Session};
use super::terms::{Effective, Terms};
use super::unmet::Used;
use plimsoll_base::document::{Document, Problems};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Seconds for which a key that has expired is known.
pub(super) const REMEMBERED: u32 = 24 * 60 * 60;
/// Beside the fields of a session that gateways share: when the key leaves, in seconds since 1970.
pub(super) const LEAVES: &str = "plimsoll_leaves";

/// In the `meta_data` of a session that Tyk makes of a token: its own name.
pub(crate) const VIRTUAL: &str = "TykJWTSessionID";

/// A session as [`Key::shared_text`] writes it.
pub(super) fn shared_session(text: &str) -> Result<Session, Problems> {
    let document = Document::parse_json("session", text)?;
    let leaves = document.integer(LEAVES);
    let mut session = session::read(document.without(&[LEAVES.into()]))?;
    session.leaves = leaves.map(|leaves| u32::try_from(leaves).unwrap_or(u32::MAX));
    Ok(session)
}

/// A key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) hash: KeyHash,
    terms: Arc<Terms>,
    /// Over all APIs that have no allowance of their own.
    spent: Spent,
    /// Seconds since 1970; 0: never.
    pub(crate) expires: u32,
    pub(crate) created: u32,
    /// Properties that most keys do not have.
    extra: Option<Box<Extra>>,
}

#[derive(Debug, Default)]
struct Extra {
    /// The key in plain text, where the operator wants keys listed.
    plain: Option<Box<str>>,
    own: Map<String, Value>,
    /// For scopes that are counted for themselves.
    accounts: Box<[Spent]>,
    /// When it is there no more, expired or not, in seconds since 1970.
    leaves: Option<u32>,
}

/// Fate of a quota when its key is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotas {
    Reset,
    Keep,
}

/// A key to be made or changed.
#[derive(Debug)]
pub(crate) struct NewKey {
    pub(crate) hash: KeyHash,
    pub(crate) plain: Option<String>,
    pub(crate) session: Session,
    /// Seconds since 1970.
    pub(crate) now: u32,
}

impl Key {
    /// A key in the place of `old`.
    pub(super) fn new(new: NewKey, terms: Arc<Terms>, old: Option<&Self>, quotas: Quotas) -> Self {
        let kept = old.filter(|_| quotas == Quotas::Keep);
        if let Some(kept) = kept {
            // What was counted for itself may be again, by policies that come later.
            terms.keep_accounts(&kept.terms);
        }
        let spent = kept.map_or_else(Spent::default, |key| Spent::copy_of(&key.spent));
        if let Some((remaining, renews)) = new.session.quota.filter(|_| kept.is_none()) {
            let quota = terms.effective.load().allowance.quota;
            let max = quota.map_or(0, |quota| i64::from(quota.max));
            let used = u32::try_from(max.saturating_sub(remaining).clamp(0, max)).unwrap_or(0);
            spent.set_quota(renews, used);
        }
        let account = |api: &str| {
            let before = kept.and_then(|key| key.account(Some(api)));
            before.map_or_else(Spent::default, Spent::copy_of)
        };
        let accounts: Box<[Spent]> = (terms.accounts().iter()).map(|api| account(api)).collect();
        let leaves = new.session.leaves;
        let mut own = new.session.own;
        if let Some(old) = old.filter(|key| key.is_virtual()) {
            // However it is changed, it is no key that anybody may show.
            let mark = old.own("meta_data").and_then(|about| about.get(VIRTUAL));
            let about = own.entry("meta_data").or_insert(Value::Null);
            if !about.is_object() {
                *about = Value::Object(Map::new());
            }
            about[VIRTUAL] = mark.cloned().unwrap_or_default();
        }
        let known = || kept.and_then(|key| key.extra.as_ref()?.plain.clone());
        let plain = new.plain.map(String::into_boxed_str).or_else(known);
        let has_extra =
            plain.is_some() || !own.is_empty() || !accounts.is_empty() || leaves.is_some();
        let extra = has_extra.then(|| {
            Box::new(Extra {
                plain,
                own,
                accounts,
                leaves,
            })
        });
        Self {
            hash: new.hash,
            terms,
            spent,
            expires: new.session.expires,
            created: old.map_or(new.now, |key| key.created),
            extra,
        }
    }

    /// Whether it opens nothing any more, at `now` in seconds since 1970.
    pub(crate) fn has_expired(&self, now: u32) -> bool {
        self.expires != 0 && now >= self.expires
    }

    /// When nobody needs to know any more that there was such a key, in seconds since 1970; `None`: it does not expire. One that is made
    /// when it has expired is known for as long from then on.
    pub(crate) fn forgotten_at(&self) -> Option<u32> {
        let end = self.expires.max(self.created).saturating_add(REMEMBERED);
        let is_known = self.expires == 0 || end == u32::MAX || self.is_barred();
        let forgotten = (!is_known).then_some(end);
        match (self.leaves(), forgotten) {
            (Some(leaves), Some(end)) => Some(leaves.min(end)),
            (leaves, forgotten) => leaves.or(forgotten),
        }
    }

    fn leaves(&self) -> Option<u32> {
        self.extra.as_ref()?.leaves
    }

    /// Whether it is there no more, at `now` in seconds since 1970: it is as one that never was.
    pub(crate) fn has_left(&self, now: u32) -> bool {
        self.leaves().is_some_and(|leaves| now >= leaves)
    }

    pub(crate) fn is_forgotten(&self, now: u32) -> bool {
        self.forgotten_at().is_some_and(|end| now >= end) && !self.owes(now)
    }

    /// Whether it stands for who would come back with another token, and has spent of a quota that is not renewed yet.
    pub(super) fn owes(&self, now: u32) -> bool {
        let accounts = self.extra.iter().flat_map(|extra| extra.accounts.iter());
        let mut spent = accounts.chain([&self.spent]).map(Spent::period);
        self.is_virtual() && spent.any(|(renews, used)| used > 0 && renews > now)
    }

    /// Whether this gateway made it of a token: the others make it of the same token, and none tells of it.
    pub(crate) fn is_local(&self) -> bool {
        self.is_virtual() && !self.is_barred()
    }

    /// Its grant now.
    pub(crate) fn effective(&self) -> arc_swap::Guard<Arc<Effective>> {
        self.terms.effective.load()
    }

    /// Its use: over all APIs, or with one that has an allowance of its own.
    pub(crate) fn spent(&self, account: Option<usize>) -> &Spent {
        let own = account.and_then(|index| self.extra.as_ref()?.accounts.get(index));
        own.unwrap_or(&self.spent)
    }

    /// Its use in a scope that has an account; without one, over all APIs that are in none.
    pub(super) fn account(&self, scope: Option<&str>) -> Option<&Spent> {
        match self.place(scope)? {
            None => Some(&self.spent),
            Some(place) => self.extra.as_ref()?.accounts.get(place),
        }
    }

    /// The quotas that are counted there.
    pub(super) fn quotas(&self, scope: Option<&str>) -> Vec<Quota> {
        let place = self.place(scope);
        place.map_or_else(Vec::new, |place| self.effective().quotas(place))
    }

    /// Takes over what all gateways have spent of one of its accounts, if it has that.
    pub(super) fn learn(&self, used: &Used) {
        let end = self.period_end(used);
        if let (Some(spent), Some(end)) = (self.account(used.scope.as_deref()), end) {
            spent.learn(used.requests, end);
        }
    }

    /// When the period of a sum ends. Redis lets go of one that is never renewed with its key, which is no end of a period.
    fn period_end(&self, used: &Used) -> Option<u32> {
        let quotas = self.quotas(used.scope.as_deref());
        let lasting = quotas.iter().filter(|quota| quota.renewal == 0).count();
        let is_last = match lasting {
            0 => false,
            all if all == quotas.len() => true,
            // The one that was asked for first has begun the period.
            _ => used.end.is_none() || used.end == self.forgotten_at(),
        };
        if is_last { Some(u32::MAX) } else { used.end }
    }

    /// The scopes of its accounts that are never renewed: they last as long as it does.
    pub(super) fn lasting_accounts(&self) -> Vec<Option<Box<str>>> {
        let lasts = |(scope, spent): (Option<Box<str>>, &Spent)| {
            let lasts = match spent.period() {
                // What others have begun is not known here.
                (0, _) => {
                    let quotas = self.quotas(scope.as_deref());
                    !quotas.is_empty() && quotas.iter().all(|quota| quota.renewal == 0)
                }
                (end, _) => end == u32::MAX,
            };
            lasts.then_some(scope)
        };
        self.accounts().into_iter().filter_map(lasts).collect()
    }

    /// Every scope that it has an account of, `None` for the one that it has in any case, and what it has spent there.
    pub(super) fn accounts(&self) -> Vec<(Option<Box<str>>, &Spent)> {
        let further = (self.extra.as_ref()).map_or(&[][..], |extra| &extra.accounts);
        // Most have none, and need not wait for their names.
        let scopes = match further {
            [] => Vec::new(),
            _ => self.terms.accounts(),
        };
        let further = scopes.into_iter().map(Some).zip(further);
        [(None, &self.spent)].into_iter().chain(further).collect()
    }

    /// The number of a scope's account.
    #[expect(
        clippy::option_option,
        reason = "no such account, and the one without a number"
    )]
    fn place(&self, scope: Option<&str>) -> Option<Option<usize>> {
        let Some(scope) = scope else {
            return Some(None);
        };
        let scopes = self.terms.accounts();
        let place = scopes.iter().position(|known| **known == *scope)?;
        Some(Some(place))
    }

    /// Gives it the accounts that its terms want by now; says whether it lacked some.
    pub(super) fn open_accounts(&mut self) -> bool {
        let wanted = self.terms.account_count();
        let open = self.extra.as_ref().map_or(0, |extra| extra.accounts.len());
        if wanted <= open {
            return false;
        }
        let extra = self.extra.get_or_insert_default();
        let before = std::mem::take(&mut extra.accounts).into_iter();
        let new = (open..wanted).map(|_| Spent::default());
        extra.accounts = before.chain(new).collect();
        true
    }

    /// As it is listed: in plain text where that is kept, else its hash.
    pub(super) fn name(&self) -> String {
        self.plain()
            .map_or_else(|| self.hash.to_hex(), str::to_owned)
    }

    /// In plain text, where that is kept.
    pub(super) fn plain(&self) -> Option<&str> {
        self.extra.as_ref()?.plain.as_deref()
    }

    /// Value of its session for this key alone, by the name of the field.
    pub(crate) fn own(&self, name: &str) -> Option<&Value> {
        self.extra.as_ref()?.own.get(name)
    }

    /// The policies that its session names.
    pub(crate) fn policies(&self) -> &[String] {
        self.terms.policies()
    }

    /// Whether it stands for whoever shows a token, and is no key that anybody may show: its name can be guessed.
    pub(crate) fn is_virtual(&self) -> bool {
        let about = self.own("meta_data");
        about.is_some_and(|about| about.get(VIRTUAL).is_some())
    }

    /// Whether it was closed for somebody who would come back with another token, as long as it is remembered.
    pub(super) fn is_barred(&self) -> bool {
        self.terms.is_closed() && self.is_virtual()
    }

    /// Its grant as it stands: another once the key was changed.
    pub(crate) fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// The session that it was made of, as other gateways read it: each counts for itself.
    pub(crate) fn shared(&self) -> Map<String, Value> {
        let mut session = self.terms.shape.clone();
        if let Some(extra) = &self.extra {
            session.extend(extra.own.clone());
        }
        session.insert("expires".to_owned(), self.expires.into());
        session
    }

    /// The session as text, with the values that its maker alone can know.
    pub(crate) fn shared_text(&self) -> String {
        let mut session = self.shared();
        if let Some(leaves) = self.leaves() {
            session.insert(LEAVES.to_owned(), leaves.into());
        }
        Value::Object(session).to_string()
    }

    /// The session that it was made of, with what is left of its quota at `now` (seconds since 1970).
    pub(crate) fn session(&self, now: u32) -> Map<String, Value> {
        let mut session = self.shared();
        if !session.contains_key("date_created")
            && let Ok(created) = jiff::Timestamp::from_second(i64::from(self.created))
        {
            session.insert("date_created".to_owned(), created.to_string().into());
        }
        let effective = self.effective();
        let left = effective
            .allowance
            .quota
            .map(|quota| self.spent.left(quota, now));
        if let Some(left) = left {
            session.insert("quota_remaining".to_owned(), left.remaining.into());
            session.insert("quota_renews".to_owned(), left.renews.into());
        }
        session
    }
}
