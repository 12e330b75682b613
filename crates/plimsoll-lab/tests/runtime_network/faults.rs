//! Faults of a network: each is not proved before it is there, proved while it is, and healed.

use crate::hosts::{connect, exchange};
use crate::stage::{Stage, block_on};
use plimsoll_lab::network::{Direction, FaultError, Lie, LinkFault, LinkFaultKind, NameFault};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

pub const TESTS: [(&str, fn()); 4] = [
    (
        "each_fault_of_packets_is_proved_and_healed",
        each_fault_of_packets_is_proved_and_healed,
    ),
    (
        "a_partition_cuts_what_is_open",
        a_partition_cuts_what_is_open,
    ),
    (
        "a_black_hole_for_openings_leaves_what_is_open",
        a_black_hole_for_openings_leaves_what_is_open,
    ),
    (
        "each_lie_is_proved_and_healed",
        each_lie_is_proved_and_healed,
    ),
];

fn fault(kind: LinkFaultKind, direction: Direction) -> LinkFault {
    let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (from, to) = (hosts(&["client", "app-a"]), hosts(&["db-a", "db-b"]));
    LinkFault::new(kind, from, to, direction, 1)
}

fn each_fault_of_packets_is_proved_and_healed() {
    block_on(async {
        let stage = Stage::set().await;
        let network = &stage.network;
        for kind in [
            LinkFaultKind::Partition,
            LinkFaultKind::SynBlackhole,
            LinkFaultKind::Reset,
            LinkFaultKind::Loss(0.2),
            LinkFaultKind::Loss(0.001),
        ] {
            for direction in [Direction::Both, Direction::OneWay] {
                let fault = fault(kind, direction);
                fault.check(network).await.unwrap();
                let early = fault.prove(network).await.unwrap_err();
                assert!(matches!(early, FaultError::NotProved(_)), "{early}");
                fault.inject(network).await.unwrap();
                let proof = fault.prove(network).await;
                let proof =
                    proof.unwrap_or_else(|error| panic!("{kind:?}, {direction:?}: {error}"));
                println!("{kind:?}, {direction:?}: {}", proof.0);
                fault.heal(network).await.unwrap();
                // Whoever heals twice, or what is not there, does no harm.
                fault.heal(network).await.unwrap();
                fault.prove_healed(network).await.unwrap();
            }
        }
        stage.network.stop().await;
    });
}

fn a_partition_cuts_what_is_open() {
    block_on(async {
        let stage = Stage::set().await;
        let (_server, address) = stage.server("db-b");
        let mut connection = connect(&stage.network, address).await;
        assert_eq!(exchange(&mut connection).await, "ping");
        let partition = fault(LinkFaultKind::Partition, Direction::Both);
        partition.inject(&stage.network).await.unwrap();
        connection.write_all(b"pong").await.unwrap();
        let mut answer = [0; 4];
        let answered = connection.read_exact(&mut answer);
        let answered = tokio::time::timeout(Duration::from_millis(300), answered).await;
        assert!(answered.is_err(), "it came through");
        partition.heal(&stage.network).await.unwrap();
        // It comes with the next retransmission.
        connection.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"pong");
        stage.network.stop().await;
    });
}

fn a_black_hole_for_openings_leaves_what_is_open() {
    block_on(async {
        let stage = Stage::set().await;
        let (_server, address) = stage.server("db-b");
        let mut connection = connect(&stage.network, address).await;
        let hole = fault(LinkFaultKind::SynBlackhole, Direction::Both);
        hole.inject(&stage.network).await.unwrap();
        hole.prove(&stage.network).await.unwrap();
        assert_eq!(exchange(&mut connection).await, "ping");
        let resets = fault(LinkFaultKind::Reset, Direction::Both);
        resets.inject(&stage.network).await.unwrap();
        connection.write_all(b"ping").await.unwrap();
        let reset = connection.read(&mut [0; 4]).await.unwrap_err();
        assert_eq!(reset.kind(), std::io::ErrorKind::ConnectionReset);
        stage.network.stop().await;
    });
}

fn each_lie_is_proved_and_healed() {
    block_on(async {
        let mut stage = Stage::set().await;
        let elsewhere = stage.address("app-a");
        for (lie, heard) in [
            (Lie::Nxdomain, ""),
            (Lie::Servfail, ""),
            (Lie::Nothing, ""),
            (Lie::Address(elsewhere), "10.77.1.1 db-b\n"),
        ] {
            let fault = NameFault {
                host: "app-a".to_owned(),
                name: "db-b".to_owned(),
                lie,
            };
            fault.check(&stage.network).await.unwrap();
            assert!(fault.prove(&stage.network).await.is_err());
            fault.inject(&mut stage.network).await.unwrap();
            println!("{}", fault.prove(&stage.network).await.unwrap().0);
            // What programs hear, who do not wait for long.
            let ask = "RES_OPTIONS='timeout:1 attempts:1' getent hosts db-b | tr -s ' '";
            assert_eq!(stage.on("app-a", ask).output(), heard, "{lie}");
            // The others are told the truth.
            assert_eq!(stage.on("db-a", ask).output(), "10.77.2.1 db-b\n");
            fault.heal(&mut stage.network).await.unwrap();
            fault.prove_healed(&stage.network).await.unwrap();
            assert_eq!(stage.on("app-a", ask).output(), "10.77.2.1 db-b\n");
        }
        stage.network.stop().await;
    });
}
