//! Locust: 50 users of `bench/peers/locustfile.py`, each with a constant throughput of 40/s. Read are the tables that it prints to standard error, in milliseconds.

use super::{CONNECTIONS, Peer, Reported};

pub const PEER: Peer = Peer {
    tool: "locust",
    command: |seconds| {
        format!(
            "locust -f bench/peers/locustfile.py --headless --only-summary \
             -u {CONNECTIONS} -r {CONNECTIONS} -t {seconds}s --host $HOST 2>&1"
        )
    },
    read,
};

fn read(output: &str) -> Option<Reported> {
    let (_, table) = output.split_once("Response time percentiles (approximated)")?;
    let header = table.lines().find(|line| line.contains("99%"))?;
    let totals = table.lines().find(|line| line.contains("Aggregated"))?;
    // The first two columns are of text; below them stands the one word `Aggregated`.
    let names: Vec<&str> = header.split_whitespace().skip(2).collect();
    let figures: Vec<&str> = totals.split_whitespace().skip(1).collect();
    let figure = |name: &str| -> Option<f64> {
        let column = names.iter().position(|known| *known == name)?;
        figures.get(column)?.parse().ok()
    };
    let seconds = |name: &str| figure(name).map(|milliseconds| milliseconds / 1e3);
    Some(Reported {
        requests: figures.last()?.parse().ok()?,
        p95: seconds("95%")?,
        p99: seconds("99%")?,
        max: seconds("100%")?,
        beside: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_table_of_percentiles_is_read() {
        let output = "
         Aggregated            7500     0(0.00%) |      1       0      32      1 | 2001.97        0.00

Response time percentiles (approximated)
Type     Name            50%    66%    75%    80%    90%    95%    98%    99%  99.9% 99.99%   100% # reqs
--------|-------------|-----|------|------|------|------|------|------|------|------|------|------|------
GET      /json/valid       1      1      1      1      2      2      4      7     15     32     32   7500
--------|-------------|-----|------|------|------|------|------|------|------|------|------|------|------
         Aggregated        1      1      1      1      2      2      4      7     15     32     32   7500
";
        let expected = Reported {
            requests: 7500,
            p95: 0.002,
            p99: 0.007,
            max: 0.032,
            beside: String::new(),
        };
        assert_eq!(read(output), Some(expected));
        assert_eq!(read("no such file"), None);
    }
}
