//! A request as hey counts it: an exchange with all the redirects after it, from the first one's start to the last one's end.

use plimsoll_base::outcome::Outcome;
use plimsoll_load::exchange::{Exchange, Exchanges};
use std::collections::HashMap;
use std::time::Duration;

/// How many exchanges a request may be: hey follows redirects until it has asked ten times.
pub const MOST_EXCHANGES: u32 = 10;

/// A request that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// From the start of the load to its intended start.
    pub offset: Duration,
    /// From its intended start to its end.
    pub response: Duration,
    /// Of all its exchanges: making connections.
    pub dialup: Duration,
    /// Of its last exchange: from the request to the first byte of the answer.
    pub wait: Duration,
    /// Of its last exchange: from then to the last byte.
    pub read: Duration,
    /// Bytes of the bodies that were answered.
    pub body_bytes: u64,
    pub end: End,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its last exchange, which need not have been answered.
    Of(Outcome),
    /// By one redirect too many.
    TooManyRedirects,
}

/// Requests whose redirects are being followed, by virtual user: never more than there are of these.
#[derive(Debug, Default)]
pub struct Chains(HashMap<usize, Chain>);

#[derive(Debug)]
struct Chain {
    so_far: Request,
    exchanges: u32,
}

impl Chains {
    /// The requests that ended with these exchanges, in their order.
    pub fn ended(&mut self, exchanges: &Exchanges) -> Vec<Request> {
        let list = exchanges.list.iter();
        list.filter_map(|exchange| self.join(exchange)).collect()
    }

    fn join(&mut self, exchange: &Exchange) -> Option<Request> {
        let (request, exchanges) = match self.0.remove(&exchange.user) {
            None => (Request::of(exchange), 1),
            Some(chain) => (chain.so_far.and_then(exchange), chain.exchanges + 1),
        };
        if exchange.followed {
            let chain = Chain {
                so_far: request,
                exchanges,
            };
            self.0.insert(exchange.user, chain);
            return None;
        }
        let is_too_long = exchanges == MOST_EXCHANGES && is_redirect(exchange.outcome);
        Some(Request {
            end: if is_too_long {
                End::TooManyRedirects
            } else {
                request.end
            },
            ..request
        })
    }
}

/// Whether an answer of this status is followed, if it says where to.
pub fn is_redirect(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Answered(301..=303 | 307 | 308))
}

impl Request {
    fn of(exchange: &Exchange) -> Self {
        let service = exchange.service.unwrap_or_default();
        let wait = exchange.first_byte.unwrap_or(service);
        Self {
            offset: exchange.intended,
            response: exchange.response,
            dialup: exchange.connect.unwrap_or_default(),
            wait,
            read: service.saturating_sub(wait),
            body_bytes: exchange.body_bytes,
            end: End::Of(exchange.outcome),
        }
    }

    /// This request with the exchange that its redirect led to.
    fn and_then(self, hop: &Exchange) -> Self {
        let last = Self::of(hop);
        Self {
            offset: self.offset,
            response: (last.offset + last.response).saturating_sub(self.offset),
            dialup: self.dialup + last.dialup,
            body_bytes: self.body_bytes + last.body_bytes,
            ..last
        }
    }

    /// From the start of the load to its end.
    pub fn ended(&self) -> Duration {
        self.offset + self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// An exchange of `user` that began and ended at these milliseconds and was answered with `status`.
    fn exchange(user: usize, began: u64, ended: u64, status: u16, followed: bool) -> Exchange {
        Exchange {
            step: 0,
            user,
            warmup: false,
            intended: MS(began),
            outcome: Outcome::Answered(status),
            class: Outcome::Answered(status).class(status < 400),
            followed,
            late: Duration::ZERO,
            response: MS(ended - began),
            connect: (began == 0).then_some(MS(1)),
            service: Some(MS(ended - began)),
            first_byte: None,
            body_bytes: 5,
        }
    }

    /// Checks these exchanges as requests: where they begin, how long they took, how they ended.
    fn check(list: Vec<Exchange>, expected: &[(u64, u64, End)]) {
        let exchanges = Exchanges {
            list,
            ..Exchanges::default()
        };
        let requests = Chains::default().ended(&exchanges);
        let said: Vec<_> = requests
            .iter()
            .map(|request| (request.offset, request.response, request.end))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(offset, response, end)| (MS(*offset), MS(*response), *end))
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn an_exchange_and_its_redirects_are_one_request() {
        let answered = |status| End::Of(Outcome::Answered(status));
        check(
            vec![
                exchange(0, 0, 10, 302, true),
                exchange(1, 0, 12, 200, false),
                exchange(0, 10, 15, 301, true),
                exchange(1, 12, 20, 302, false),
                exchange(0, 15, 30, 404, false),
            ],
            &[
                (0, 12, answered(200)),
                (12, 8, answered(302)),
                (0, 30, answered(404)),
            ],
        );
    }

    #[test]
    fn one_that_is_cut_off_between_two_redirects_is_none() {
        check(vec![exchange(0, 0, 10, 302, true)], &[]);
    }

    #[test]
    fn the_tenth_redirect_is_one_too_many() {
        let chain = |last| {
            let hops = (0..9).map(|hop| exchange(3, hop, hop + 1, 307, true));
            hops.chain([exchange(3, 9, 10, last, false)]).collect()
        };
        check(chain(308), &[(0, 10, End::TooManyRedirects)]);
        check(chain(200), &[(0, 10, End::Of(Outcome::Answered(200)))]);
    }
}
