//! LogGP: latency, overhead, gap and gap per byte, without a topology.
//!
//! Alexandrov et al., "LogGP: Incorporating Long Messages into the LogP Model", SPAA 1995; with the rules of
//! LogGOPSim (Hoefler, Schneider, Lumsdaine, HPDC 2010) for a processor and a network card on each rank:
//!
//! * a SEND of s bytes starts when it is ready, the processor is free and the card may send again; it occupies the
//!   processor for o, and finishes then; the card may send again g + (s−1)·G after the start; the first
//!   byte is at the receiver o + L after the start;
//! * a RECV starts when it is ready, the first byte is there, the processor is free and the card may
//!   receive again; it occupies the processor for o + (s−1)·G, and finishes then; the card may receive
//!   again g + (s−1)·G after the start;
//! * a COMP occupies the processor for its duration.
//!
//! Whatever could start is given the processor in the order in which it could start. A message that comes
//! before its RECV waits without cost (LogGOPSim charges it when it comes). An empty message counts as one byte.
//!
//! A ring of n ranks in which each sends, receives, and sends on takes 2(n−1)(2o + L + (s−1)G).

use std::fmt;
use std::str::FromStr;

use super::network::{ContentionFree, Network, Pair, Sent, Work};
use crate::error::Overflow;
use crate::events::{Event, EventQueue, MessageId, Messages};
use crate::report::LinkLoad;
use crate::units::{Bytes, Picos, UnitError};

/// The parameters of LogGP.
///
/// Read from `L=2500ns,o=1500ns,g=1000ns,G=6ns/B`, in any order; what is left out is that of
/// [`LogGp::default`], the default of LogGOPSim, which are these figures.
///
/// ```
/// use sim_core::LogGp;
/// use sim_core::units::Picos;
///
/// let machine: LogGp = "L=3.7us, o=200ns, g=5ns, G=0.04ns/B".parse()?;
/// assert_eq!((machine.latency, machine.gap), (Picos(3_700_000), Picos(5_000)));
/// assert_eq!("G=6ns/B".parse(), Ok(LogGp::default()));
/// assert_eq!(machine.to_string(), "L=3700ns,o=200ns,g=5ns,G=0.04ns/B");
/// # Ok::<(), sim_core::LogGpError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogGp {
    /// L: how long the first byte is on its way.
    pub latency: Picos,
    /// o: how long a message occupies the processor, on each side.
    pub overhead: Picos,
    /// g: the least time between the starts of two messages, on each side of a rank.
    pub gap: Picos,
    /// G: the time of each further byte, in 10^-15 s.
    pub femtos_per_byte: u64,
}

impl Default for LogGp {
    fn default() -> Self {
        Self {
            latency: Picos(2_500_000),
            overhead: Picos(1_500_000),
            gap: Picos(1_000_000),
            femtos_per_byte: 6_000_000,
        }
    }
}

/// Text that gives no parameters of LogGP.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogGpError {
    /// Not a list of the known parameters.
    #[error(
        "{part:?} is no parameter of loggp: expected some of L=TIME, o=TIME, g=TIME, G=TIME/B, with commas"
    )]
    Unknown {
        /// The part of the text.
        part: String,
    },
    /// A parameter twice.
    #[error("the parameter {name} of loggp is given twice")]
    Twice {
        /// Which one.
        name: String,
    },
    /// A value that cannot be read.
    #[error("parameter {name} of loggp: {error}")]
    Value {
        /// Which one.
        name: String,
        /// What is wrong with it.
        error: UnitError,
    },
    /// G is no time for each byte.
    #[error("parameter G of loggp is {value:?}: expected a time per byte below 1 ms, such as 0.04ns/B")]
    PerByte {
        /// The value.
        value: String,
    },
}

impl FromStr for LogGp {
    type Err = LogGpError;

    fn from_str(text: &str) -> Result<Self, LogGpError> {
        let mut parameters = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let unknown = || LogGpError::Unknown { part: part.to_owned() };
            let (name, value) = part.split_once('=').ok_or_else(unknown)?;
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(LogGpError::Twice { name: name.to_owned() });
            }
            seen.push(name);
            let target = match name {
                "L" => &mut parameters.latency,
                "o" => &mut parameters.overhead,
                "g" => &mut parameters.gap,
                "G" => {
                    parameters.femtos_per_byte = femtos_per_byte(value)
                        .ok_or_else(|| LogGpError::PerByte { value: value.to_owned() })?;
                    continue;
                }
                _ => return Err(unknown()),
            };
            let time = value.parse();
            *target = time.map_err(|error| LogGpError::Value { name: name.to_owned(), error })?;
        }
        Ok(parameters)
    }
}

/// Below 1 ms, so that sizes can be multiplied without care.
fn femtos_per_byte(text: &str) -> Option<u64> {
    let time = text.strip_suffix("/B")?.trim_end();
    // A thousandth of a picosecond is a nanosecond in units a million times as large.
    let digits = time.find(|c: char| c.is_alphabetic() || c == '\u{b5}')?;
    let (number, unit) = time.split_at(digits);
    let larger = match unit {
        "ps" => "ns",
        "ns" => "us",
        "us" | "\u{b5}s" | "\u{3bc}s" => "ms",
        _ => return None,
    };
    let Picos(femtos) = format!("{number}{larger}").parse().ok()?;
    (femtos < 1_000_000_000_000).then_some(femtos)
}

impl fmt::Display for LogGp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = |time: Picos| time.to_string().replace(' ', "");
        let Self { latency, overhead, gap, femtos_per_byte } = *self;
        write!(f, "L={},o={},g={},", ns(latency), ns(overhead), ns(gap))?;
        let (whole, rest) = (femtos_per_byte / 1_000_000, femtos_per_byte % 1_000_000);
        match rest {
            0 => write!(f, "G={whole}ns/B"),
            _ => write!(f, "G={whole}.{}ns/B", format!("{rest:06}").trim_end_matches('0')),
        }
    }
}

impl LogGp {
    /// (s−1)·G, rounded half up to a picosecond.
    fn further_bytes(&self, size: Bytes) -> Option<Picos> {
        let femtos = u128::from(size.0.saturating_sub(1)) * u128::from(self.femtos_per_byte);
        u64::try_from((femtos + 500) / 1000).ok().map(Picos)
    }

    /// What to know when reading the figures.
    pub(crate) fn notes(&self) -> Vec<String> {
        vec![format!("loggp knows no topology: any two ranks are {self} apart")]
    }
}

/// Processor and network card of a rank: from when on they can be used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Processor {
    free: Picos,
    may_send: Picos,
    may_receive: Picos,
}

impl Processor {
    fn send(&mut self, machine: &LogGp, ready: Picos, size: Bytes) -> Option<Sent> {
        let start = ready.max(self.free).max(self.may_send);
        self.may_send = start.checked_add(machine.gap)?.checked_add(machine.further_bytes(size)?)?;
        self.free = start.checked_add(machine.overhead)?;
        Some(Sent { finish: self.free, arrival: self.free.checked_add(machine.latency)? })
    }

    /// `ready`: the RECV is, and its message is there.
    fn receive(&mut self, machine: &LogGp, ready: Picos, size: Bytes) -> Option<Picos> {
        let start = ready.max(self.free).max(self.may_receive);
        let bytes = machine.further_bytes(size)?;
        self.may_receive = start.checked_add(machine.gap)?.checked_add(bytes)?;
        self.free = start.checked_add(machine.overhead)?.checked_add(bytes)?;
        Some(self.free)
    }

    fn compute(&mut self, ready: Picos, duration: Picos) -> Option<Picos> {
        self.free = ready.max(self.free).checked_add(duration)?;
        Some(self.free)
    }
}

/// For the sweep, where the nodes of a rank follow each other.
impl ContentionFree for LogGp {
    type Route = ();
    type Processor = Processor;
    type Memo = ();
    const CONCURRENT: bool = false;

    fn route(&self, _: u32, _: u32) -> Option<()> {
        Some(())
    }

    fn alike(&self, (): &(), (): &()) -> bool {
        true
    }

    #[inline]
    fn send(&self, (): &mut (), processor: &mut Processor, ready: Picos, size: Bytes) -> Option<Sent> {
        processor.send(self, ready, size)
    }

    fn passage(&self, (): &mut (), _: u32, _: u32, _: Bytes) -> Option<Picos> {
        // It is not concurrent: a message takes what the processors of both ranks give it.
        None
    }

    #[inline]
    fn receive(&self, processor: &mut Processor, ready: Picos, arrival: Picos, size: Bytes) -> Option<Picos> {
        processor.receive(self, ready.max(arrival), size)
    }

    #[inline]
    fn compute(&self, processor: &mut Processor, ready: Picos, duration: Picos) -> Option<Picos> {
        processor.compute(ready, duration)
    }
}

/// For the event engine, where several nodes of a rank may want its processor.
pub(crate) struct Processors {
    machine: LogGp,
    /// By rank.
    processors: Vec<Processor>,
    /// By pair, the sender.
    senders: Vec<u32>,
}

impl Processors {
    pub(crate) fn new(machine: LogGp, ranks: usize, pairs: &[Pair]) -> Self {
        let senders = pairs.iter().map(|pair| pair.src).collect();
        Self { machine, processors: vec![Processor::default(); ranks], senders }
    }
}

impl Network for Processors {
    const HAS_PROCESSORS: bool = true;

    fn inject(
        &mut self,
        message: MessageId,
        pair: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        let (rank, now) = (self.senders[pair as usize], queue.now());
        let processor = &mut self.processors[rank as usize];
        let sent = processor.send(&self.machine, now, messages[message].bytes).ok_or(Overflow::TIME)?;
        let node = messages[message].node;
        queue.schedule(Picos(sent.finish.0 - now.0), Event::Received { rank, node })?;
        queue.schedule_arrival(Picos(sent.arrival.0 - now.0), message, messages)
    }

    fn occupy(&mut self, rank: u32, work: Work, now: Picos) -> Result<Picos, Overflow> {
        let processor = &mut self.processors[rank as usize];
        let finish = match work {
            Work::Receive(size) => processor.receive(&self.machine, now, size),
            Work::Compute(duration) => processor.compute(now, duration),
        };
        finish.ok_or(Overflow::TIME)
    }

    fn arrive(&mut self, _: MessageId, _: &mut Messages, _: &mut EventQueue) -> Result<bool, Overflow> {
        Ok(true)
    }

    fn link_free(&mut self, _: u32, _: &mut Messages, _: &mut EventQueue) -> Result<(), Overflow> {
        // There are no links.
        Ok(())
    }

    fn parts(&self, _pair: u32, size: Bytes) -> Option<(Picos, Picos)> {
        Some((self.machine.latency, self.machine.further_bytes(size)?))
    }

    fn flight(&self) -> Option<Picos> {
        Some(self.machine.latency)
    }

    fn link_loads(&self) -> Option<Vec<LinkLoad>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_in_any_order_and_shown_as_they_are_read() {
        for text in ["L=2500ns,o=1500ns,g=1000ns,G=6ns/B", "G=0.0025ns/B, g=0ns,o=0.5us,L=1ms"] {
            let machine: LogGp = text.parse().unwrap();
            assert_eq!(machine.to_string().parse(), Ok(machine), "{text}");
        }
        assert_eq!("G=2.5ps/B".parse::<LogGp>().unwrap().femtos_per_byte, 2_500);
        assert_eq!("G=0.18 ns/B".parse::<LogGp>().unwrap().femtos_per_byte, 180_000);
        assert_eq!("G=1us/B".parse::<LogGp>().unwrap().femtos_per_byte, 1_000_000_000);
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for (text, part) in [
            ("", "expected some of L=TIME"),
            ("L=1ns,", "\"\" is no parameter"),
            ("S=3", "\"S=3\" is no parameter"),
            ("L=1ns,L=2ns", "given twice"),
            ("o=5", "parameter o of loggp: time \"5\" has no unit"),
            ("G=5ns", "expected a time per byte"),
            ("G=1ms/B", "below 1 ms"),
            ("G=1000us/B", "below 1 ms"),
            ("G=-1ns/B", "below 1 ms"),
        ] {
            let error = text.parse::<LogGp>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn bytes_are_rounded_once() {
        let machine = LogGp { femtos_per_byte: 2_500, ..LogGp::default() };
        assert_eq!([0, 1, 2, 3].map(|size| machine.further_bytes(Bytes(size)).unwrap().0), [0, 0, 3, 5]);
        assert_eq!(LogGp::default().further_bytes(Bytes(u64::MAX)), None);
    }
}
