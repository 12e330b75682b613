//! How a store of keys finds, counts, expires and limits them.

use super::*;
use crate::keys::key::{LEAVES, REMEMBERED, VIRTUAL};
use crate::keys::session;
use plimsoll_base::document::Document;

const NOW: u32 = 1_700_000_000;

fn new_key(name: &str, session: &str) -> NewKey {
    let document = Document::parse_json("key", session).unwrap();
    NewKey {
        hash: KeyHash::of(name.as_bytes()),
        plain: None,
        session: session::read(document).unwrap(),
        now: NOW,
    }
}

const PLAIN: &str = r#"{"rate": 10, "per": 1, "quota_max": 5, "quota_renewal_rate": 60, "access_rights": {"a": {"api_id": "a"}}}"#;

#[test]
fn keys_are_found_until_they_are_withdrawn() {
    let store = KeyStore::new(Limits { keys: 1000 });
    let names: Vec<String> = (0..1000).map(|index| format!("key-{index}")).collect();
    for name in &names {
        store.put(new_key(name, PLAIN), Quotas::Reset).unwrap();
    }
    assert!(
        store
            .put(new_key("one more", PLAIN), Quotas::Reset)
            .is_err()
    );
    let hash = |name: &String| KeyHash::of(name.as_bytes());
    for name in names.iter().step_by(3) {
        assert!(store.remove(hash(name)));
        assert!(!store.remove(hash(name)));
    }
    for (index, name) in names.iter().enumerate() {
        let found = store.with(hash(name), |key| key.hash);
        let expected = (index % 3 != 0).then(|| hash(name));
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!((store.len(), store.list(NOW).len()), (666, 666));
}

#[test]
fn a_key_is_put_as_long_as_nobody_was_faster_and_put_off_but_never_forward() {
    let store = KeyStore::new(Limits::default());
    let hash = KeyHash::of(b"a");
    let put = |is_so: bool| {
        let is_so = |key: Option<&Key>| key.is_none() && is_so;
        let put = store.put_if(new_key("a", PLAIN), Quotas::Keep, is_so);
        put.unwrap()
    };
    assert!(!put(false));
    assert_eq!(store.len(), 0);
    assert!(put(true));
    assert!(!put(true));
    let expires = || store.with(hash, |key| key.expires);
    for (until, then) in [(NOW, NOW), (NOW - 1, NOW), (NOW + 1, NOW + 1)] {
        store.put_off(hash, until);
        assert_eq!(expires(), Some(then));
    }
    store.put_off(KeyHash::of(b"b"), NOW);
    assert_eq!(store.len(), 1);
}

#[test]
fn what_stands_for_a_token_stays_that_however_it_is_changed() {
    let store = KeyStore::new(Limits::default());
    let made = format!(r#"{{"meta_data": {{"{VIRTUAL}": "x", "more": 1}}}}"#);
    store.put(new_key("k", &made), Quotas::Reset).unwrap();
    for changed in [
        r#"{"is_inactive": true}"#,
        r#"{"meta_data": null}"#,
        r#"{"meta_data": {"other": 1}}"#,
    ] {
        store.put(new_key("k", changed), Quotas::Reset).unwrap();
        let mark = |key: &Key| {
            (
                key.is_virtual(),
                key.own("meta_data").unwrap()[VIRTUAL] == "x",
            )
        };
        let seen = store.with(KeyHash::of(b"k"), mark);
        assert_eq!(seen, Some((true, true)), "{changed}");
    }
}

#[test]
fn who_was_barred_stays_so_when_the_session_has_expired() {
    let store = KeyStore::new(Limits { keys: 2 });
    let of_a_token = |inactive: bool| {
        let meta = format!(r#""meta_data": {{"{VIRTUAL}": "x"}}"#);
        format!(
            r#"{{"is_inactive": {inactive}, "expires": {NOW}, "access_rights": {{"a": {{}}}}, {meta}}}"#
        )
    };
    for (name, inactive) in [("open", false), ("barred", true)] {
        let key = new_key(name, &of_a_token(inactive));
        store.put(key, Quotas::Reset).unwrap();
    }
    let has = |name: &str| store.with(KeyHash::of(name.as_bytes()), Key::is_virtual);
    store.put(new_key("new", PLAIN), Quotas::Reset).unwrap();
    assert_eq!((has("open"), has("barred")), (None, Some(true)));
    store.sweep(NOW + 2 * REMEMBERED);
    assert_eq!((has("new"), has("barred")), (Some(false), Some(true)));
}

#[test]
fn a_change_keeps_or_resets_what_is_spent() {
    let store = KeyStore::new(Limits::default());
    store.put(new_key("a", PLAIN), Quotas::Reset).unwrap();
    let hash = KeyHash::of(b"a");
    let now = crate::keys::allowance::Moment {
        nanos: 1,
        unix: NOW,
    };
    let spend = || {
        store.with(hash, |key| {
            let allowance = key.effective().allowance;
            key.spent(None).spend(&allowance, 1, now).unwrap();
            key.session(NOW)["quota_remaining"].clone()
        })
    };
    assert_eq!(spend(), Some(4.into()));
    store.put(new_key("a", PLAIN), Quotas::Keep).unwrap();
    assert_eq!(spend(), Some(3.into()));
    store.put(new_key("a", PLAIN), Quotas::Reset).unwrap();
    assert_eq!(spend(), Some(4.into()));
    assert_eq!(store.len(), 1);
}

/// A session that ends so many seconds from [`NOW`].
fn ending(seconds: i64) -> String {
    format!(
        r#"{{"access_rights": {{"a": {{}}}}, "expires": {}}}"#,
        i64::from(NOW) + seconds
    )
}

#[test]
fn a_key_that_has_expired_is_known_for_a_day_and_leaves_then() {
    let store = KeyStore::new(Limits::default());
    let day = i64::from(REMEMBERED);
    let sessions = [PLAIN.to_owned(), ending(1), ending(2), ending(-9 * day)];
    for (name, session) in ["a", "b", "c", "d"].into_iter().zip(sessions) {
        store.put(new_key(name, &session), Quotas::Reset).unwrap();
    }
    let left = |now: u32| {
        store.sweep(now);
        let is_there = |name: &&str| store.with(KeyHash::of(name.as_bytes()), |_| ());
        let names = ["a", "b", "c", "d"].into_iter();
        let names: String = names.filter(|name| is_there(name).is_some()).collect();
        (names, store.len())
    };
    let at = |seconds: u32| left(NOW + REMEMBERED + seconds);
    assert_eq!(left(NOW + 3), ("abcd".to_owned(), 4));
    assert_eq!(
        at(0),
        ("abc".to_owned(), 3),
        "one that had expired when it was made"
    );
    assert_eq!(at(1), ("ac".to_owned(), 2));
    let renewed = new_key("c", &ending(7));
    store.put(renewed, Quotas::Keep).unwrap();
    assert_eq!(at(2), ("ac".to_owned(), 2), "it was renewed");
    assert_eq!(left(u32::MAX), ("a".to_owned(), 1));
}

#[test]
fn every_key_that_has_expired_leaves_in_a_known_number_of_sweeps() {
    let store = KeyStore::new(Limits::default());
    let keys = 20 * SWEPT;
    for index in 0..keys {
        let lasts = if index % 2 == 0 { "1" } else { "0" };
        let session = format!(r#"{{"access_rights": {{"a": {{}}}}, "expires": {lasts}}}"#);
        let mut key = new_key(&index.to_string(), &session);
        key.now = 1;
        store.put(key, Quotas::Reset).unwrap();
    }
    store.sweep(NOW + REMEMBERED);
    assert!(store.len() >= keys - SWEPT, "one sweep looks at few");
    (1..keys / SWEPT).for_each(|_| store.sweep(NOW));
    assert_eq!(store.len(), keys / 2);
}

#[test]
fn where_there_is_no_room_those_that_have_expired_leave_at_once() {
    let store = KeyStore::new(Limits { keys: 2 });
    let put = |name: &str, session: &str, now: u32| {
        let key = new_key(name, session);
        store.put(NewKey { now, ..key }, Quotas::Reset)
    };
    put("a", &ending(1), NOW).unwrap();
    put("b", PLAIN, NOW).unwrap();
    assert_eq!(put("c", PLAIN, NOW), Err(TooManyKeys(2)));
    // One that is there needs no room.
    put("a", &ending(2), NOW + 1).unwrap();
    assert_eq!(put("c", PLAIN, NOW + 1), Err(TooManyKeys(2)));
    put("c", PLAIN, NOW + 2).unwrap();
    assert!(store.with(KeyHash::of(b"a"), |_| ()).is_none());
    assert_eq!(store.len(), 2);
}

#[test]
fn what_is_left_of_a_quota_may_be_any_number() {
    let store = KeyStore::new(Limits::default());
    for remaining in [i64::MIN, -1, i64::MAX] {
        let session = format!(
            r#"{{"quota_max": 5, "quota_renewal_rate": 60, "quota_remaining": {remaining}, "quota_renews": {}}}"#,
            NOW + 60
        );
        let put = store.put(new_key("a", &session), Quotas::Reset);
        put.unwrap();
        let left = store.with(KeyHash::of(b"a"), |key| key.session(NOW));
        let expected = if remaining > 0 { 5 } else { 0 };
        assert_eq!(left.unwrap()["quota_remaining"], expected, "{remaining}");
    }
}

#[test]
fn a_session_that_cannot_be_read_ends_the_one_before_it() {
    let store = KeyStore::new(Limits::default());
    let hash = KeyHash::of(b"a");
    store.adopt(hash, PLAIN, Quotas::Keep, NOW);
    assert!(store.with(hash, |_| ()).is_some());
    store.adopt(hash, r#"{"hmac_enabled": true}"#, Quotas::Keep, NOW);
    assert!(store.with(hash, |_| ()).is_none());
}

#[test]
fn keys_of_other_gateways_beyond_the_room_are_counted() {
    let store = KeyStore::new(Limits { keys: 1 });
    for name in ["a", "b", "c"] {
        store.adopt(KeyHash::of(name.as_bytes()), PLAIN, Quotas::Keep, NOW);
    }
    assert_eq!((store.len(), store.turned_away()), (1, 2));
}

/// Spends of what an API grants for itself; what is left.
fn spend(store: &KeyStore, api: &str) -> Option<u32> {
    use super::super::allowance::Moment;
    use super::super::terms::Access;
    let now = Moment {
        nanos: 0,
        unix: NOW,
    };
    let look = |key: &Key| {
        let effective = key.effective();
        let Access::Listed(apis) = &effective.access else {
            return None;
        };
        let own = apis.get(api).copied()?;
        let left = key.spent(own.account).spend(&own.allowance, 1, now);
        left.ok()?.map(|left| left.remaining)
    };
    store.with(KeyHash::of(b"k"), look).flatten()
}

#[test]
fn an_apis_account_stays_its_own_through_changes_of_policies_and_sessions() {
    use super::super::grant::{ApiGrant, Figures, Grant, PolicyGrant};
    let limit = Figures {
        quota_max: 9,
        quota_renewal: 60,
        ..Figures::default()
    };
    let policies = |apis: &[&str]| {
        let own = ApiGrant {
            limit,
            says_limit: true,
            ..ApiGrant::default()
        };
        let access = apis.iter().map(|api| ((*api).to_owned(), own.clone()));
        let policy = PolicyGrant {
            grant: Grant {
                access: access.collect(),
                ..Grant::default()
            },
            per_api: true,
            ..PolicyGrant::default()
        };
        Policies::from([("p".to_owned(), policy)])
    };
    let store = KeyStore::new(Limits::default());
    store.set_policies(policies(&["a", "b"]));
    let key = new_key("k", r#"{"apply_policies": ["p"]}"#);
    store.put(key, Quotas::Reset).unwrap();
    let spent = |apis: [&str; 3]| apis.map(|api| spend(&store, api));
    assert_eq!(spent(["a", "a", "b"]), [Some(8), Some(7), Some(8)]);
    store.set_policies(policies(&["c", "b", "a"]));
    assert_eq!(spent(["a", "b", "c"]), [Some(6), Some(7), Some(8)]);
    store.set_policies(policies(&["c"]));
    assert_eq!(spent(["a", "b", "c"]), [None, None, Some(7)]);
    store.set_policies(policies(&["a", "b", "c"]));
    assert_eq!(spent(["a", "b", "c"]), [Some(5), Some(6), Some(6)]);
    let own = |api: &str| {
        format!(r#""{api}": {{"limit": {{"quota_max": 9, "quota_renewal_rate": 60}}}}"#)
    };
    let session = format!(r#"{{"access_rights": {{{}, {}}}}}"#, own("c"), own("a"));
    store.put(new_key("k", &session), Quotas::Keep).unwrap();
    assert_eq!(spent(["a", "b", "c"]), [Some(4), None, Some(5)]);
    store.put(new_key("k", &session), Quotas::Reset).unwrap();
    assert_eq!(spent(["a", "b", "c"]), [Some(8), None, Some(8)]);
}

#[test]
fn a_key_that_leaves_is_there_until_that_second_also_for_others() {
    let store = KeyStore::new(Limits::default());
    let mut key = new_key("k", PLAIN);
    key.session.leaves = Some(NOW + 10);
    let hash = key.hash;
    store.put(key, Quotas::Reset).unwrap();
    let text = store.with(hash, Key::shared_text).unwrap();
    let other = KeyStore::new(Limits::default());
    other.adopt(hash, &text, Quotas::Keep, NOW + 5);
    for store in [&store, &other] {
        let look = |at| store.with(hash, |key| (key.has_left(at), key.is_forgotten(at)));
        assert_eq!(look(NOW + 9), Some((false, false)));
        assert_eq!(look(NOW + 10), Some((true, true)));
        assert_eq!(store.with(hash, Key::forgotten_at), Some(Some(NOW + 10)));
        assert_eq!(
            (store.list(NOW + 9).len(), store.list(NOW + 10).len()),
            (1, 0)
        );
        let shown = store.with(hash, |key| key.session(NOW)).unwrap();
        assert!(!shown.contains_key(LEAVES));
    }
}

#[test]
fn keys_with_the_same_session_share_its_terms() {
    let store = KeyStore::new(Limits::default());
    for name in ["a", "b"] {
        store.put(new_key(name, PLAIN), Quotas::Reset).unwrap();
    }
    let terms =
        |name: &str| store.with(KeyHash::of(name.as_bytes()), |key| Arc::as_ptr(key.terms()));
    assert_eq!(terms("a"), terms("b"));
    assert_eq!(store.shared.lock().unwrap().terms.len(), 1);
}

/// As full as the tables are with a million: a quarter of it in a quarter of the memory.
#[test]
fn a_million_keys_take_less_than_96_mb() {
    let store = KeyStore::new(Limits::default());
    let template = new_key("", PLAIN);
    for index in 0..250_000u32 {
        let key = NewKey {
            hash: KeyHash::of(&index.to_le_bytes()),
            plain: None,
            session: template.session.clone(),
            now: NOW,
        };
        store.put(key, Quotas::Reset).unwrap();
    }
    let bytes = |segment: &RwLock<Segment>| {
        let segment = segment.read().unwrap();
        segment.keys.capacity() * size_of::<Key>() + segment.places.allocation_size()
    };
    let taken: usize = store.segments.iter().map(bytes).sum();
    // 77 MB for a million; what keys have in common is kept once and does not count.
    assert_eq!(store.shared.lock().unwrap().terms.len(), 1);
    assert!(store.len() == 250_000 && taken < 24_000_000, "{taken}");
    assert_eq!(taken * 4 / 1_000_000, 77);
}
