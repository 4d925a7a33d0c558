//! The figures of a machine as positive numbers, each with a name.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::sim::machine::{Costs, LinkKind, Machine, Protocol};
use crate::sim::units::{Bandwidth, Picos};

/// What a machine states as a number that can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Figure {
    /// [`Costs::launch`].
    Launch,
    /// [`Costs::step`], on all links or on those of a kind.
    Step,
    /// [`Costs::slice`], on all links or on those of a kind.
    Slice,
    /// [`Costs::latency`], on all links or on those of a kind.
    Latency,
    /// [`Costs::copy`], on all links or on those of a kind.
    Copy,
    /// [`Costs::reduce`].
    Reduce,
    /// [`Machine::egress`], of all protocols.
    Egress,
    /// [`Machine::ingress`], of all protocols.
    Ingress,
}

impl Figure {
    /// All figures.
    pub const ALL: [Self; 8] = [
        Self::Launch,
        Self::Step,
        Self::Slice,
        Self::Latency,
        Self::Copy,
        Self::Reduce,
        Self::Egress,
        Self::Ingress,
    ];

    /// The name, as on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Step => "step",
            Self::Slice => "slice",
            Self::Latency => "latency",
            Self::Copy => "copy",
            Self::Reduce => "reduce",
            Self::Egress => "egress",
            Self::Ingress => "ingress",
        }
    }

    /// Whether it is a bandwidth, in bytes per second; else it is a time, in nanoseconds.
    #[must_use]
    pub fn is_bandwidth(self) -> bool {
        matches!(self, Self::Copy | Self::Reduce | Self::Egress | Self::Ingress)
    }

    /// Whether each protocol has its own.
    #[must_use]
    pub fn is_of_protocol(self) -> bool {
        !matches!(self, Self::Egress | Self::Ingress)
    }

    /// Between which values it is sought: 0.1 ns to 1 s, or 1 MB/s to 100 TB/s.
    #[must_use]
    pub fn range(self) -> RangeInclusive<f64> {
        if self.is_bandwidth() { 1e6..=1e14 } else { 0.1..=1e9 }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no figure has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no figure \"{name}\": expected one of launch, step, slice, latency, copy, reduce, egress, ingress"
)]
pub struct UnknownFigure {
    /// The name.
    pub name: String,
}

impl FromStr for Figure {
    type Err = UnknownFigure;

    fn from_str(name: &str) -> Result<Self, UnknownFigure> {
        let known = Self::ALL.into_iter().find(|figure| figure.name() == name);
        known.ok_or_else(|| UnknownFigure { name: name.to_owned() })
    }
}

/// A figure of one protocol, or of all ranks: one number of a machine.
///
/// ```
/// use collective::calibrate::{Figure, Parameter};
/// use collective::sim::machine::{Costs, Machine, Protocol};
///
/// let mut machine = Machine::new("example").with(Protocol::Ll, Costs::free());
/// let latency = Parameter::of(Protocol::Ll, Figure::Latency);
/// assert_eq!((latency.to_string().as_str(), latency.get(&machine)), ("LL.latency", Some(0.0)));
/// latency.set(&mut machine, 700.0);
/// assert_eq!(machine.costs(Protocol::Ll).map(|costs| costs.latency), Some("700 ns".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parameter {
    /// The protocol; none for what is of the ranks.
    pub protocol: Option<Protocol>,
    /// The kind of links that replaces the costs of the protocol; none for those costs themselves.
    pub links: Option<LinkKind>,
    /// What it is.
    pub figure: Figure,
}

impl Parameter {
    /// A figure of a protocol; of the ranks, where it is not of protocols.
    #[must_use]
    pub fn of(protocol: Protocol, figure: Figure) -> Self {
        Self { protocol: figure.is_of_protocol().then_some(protocol), links: None, figure }
    }

    /// All that a machine states for a protocol and for its ranks, other than times of zero and limits that are none.
    #[must_use]
    pub fn stated(machine: &Machine, protocol: Protocol) -> Vec<Self> {
        let kinds = std::iter::once(None).chain(LinkKind::ALL.map(Some));
        let of = |links| Figure::ALL.map(|figure| Self { links, ..Self::of(protocol, figure) });
        let own = kinds.flat_map(of).filter(|it| it.links.is_none() || it.figure.is_of_protocol());
        own.filter(|it| it.get(machine).is_some_and(|value| value > 0.0)).collect()
    }

    /// Its value, in nanoseconds or bytes per second; none where the machine states none.
    #[must_use]
    pub fn get(&self, machine: &Machine) -> Option<f64> {
        let rate = |bandwidth: Option<Bandwidth>| bandwidth.map(Bandwidth::bytes_per_s);
        match self.figure {
            Figure::Egress => return rate(machine.egress),
            Figure::Ingress => return rate(machine.ingress),
            _ => {}
        }
        let costs = machine.costs(self.protocol?)?;
        if let Some(kind) = self.links {
            let (_, own) = costs.links.iter().find(|(of, _)| *of == kind)?;
            return match self.figure {
                Figure::Step => own.step.map(Picos::as_ns),
                Figure::Slice => own.slice.map(Picos::as_ns),
                Figure::Latency => own.latency.map(Picos::as_ns),
                Figure::Copy => rate(own.copy),
                _ => None,
            };
        }
        match self.figure {
            Figure::Launch => Some(costs.launch.as_ns()),
            Figure::Step => Some(costs.step.as_ns()),
            Figure::Slice => Some(costs.slice.as_ns()),
            Figure::Latency => Some(costs.latency.as_ns()),
            Figure::Copy => rate(costs.copy),
            Figure::Reduce => rate(costs.reduce),
            Figure::Egress | Figure::Ingress => None,
        }
    }

    /// Gives it a value, in nanoseconds or bytes per second, brought into [`Figure::range`] and to whole picoseconds. Does nothing
    /// on a machine that has no costs for the protocol, or none of their own for the kind of links.
    pub fn set(&self, machine: &mut Machine, value: f64) {
        let range = self.figure.range();
        let value = value.clamp(*range.start(), *range.end());
        let rate = Bandwidth::from_bytes_per_s(value).ok();
        let time = Picos((value * 1000.0).round() as u64);
        match self.figure {
            Figure::Egress => machine.egress = rate,
            Figure::Ingress => machine.ingress = rate,
            _ => {
                let Some(costs) = self.protocol.and_then(|protocol| machine.costs_mut(protocol)) else {
                    return;
                };
                match self.links {
                    None => set_own(costs, self.figure, time, rate),
                    Some(kind) => set_on_links(costs, kind, self.figure, time, rate),
                }
            }
        }
    }
}

fn set_own(costs: &mut Costs, figure: Figure, time: Picos, rate: Option<Bandwidth>) {
    match figure {
        Figure::Launch => costs.launch = time,
        Figure::Step => costs.step = time,
        Figure::Slice => costs.slice = time,
        Figure::Latency => costs.latency = time,
        Figure::Copy => costs.copy = rate,
        Figure::Reduce => costs.reduce = rate,
        Figure::Egress | Figure::Ingress => {}
    }
}

fn set_on_links(costs: &mut Costs, kind: LinkKind, figure: Figure, time: Picos, rate: Option<Bandwidth>) {
    let Some((_, own)) = costs.links.iter_mut().find(|(of, _)| *of == kind) else { return };
    match figure {
        Figure::Step => own.step = Some(time),
        Figure::Slice => own.slice = Some(time),
        Figure::Latency => own.latency = Some(time),
        Figure::Copy => own.copy = rate,
        Figure::Launch | Figure::Reduce | Figure::Egress | Figure::Ingress => {}
    }
}

/// A text that is no parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no figure of a machine: {reason}")]
pub struct ParameterError {
    /// The text.
    pub text: String,
    /// Why not.
    pub reason: String,
}

impl FromStr for Parameter {
    type Err = ParameterError;

    /// Reads what is shown: `LL.latency`, `Simple.network.copy`, `egress`. Capital letters of protocols make no difference.
    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let fault =
            |reason: &dyn fmt::Display| ParameterError { text: text.to_owned(), reason: reason.to_string() };
        let mut parts = text.split('.').rev();
        let figure: Figure = parts.next().unwrap_or_default().parse().map_err(|error| fault(&error))?;
        let before: Vec<&str> = parts.rev().collect();
        let (protocol, links) = match (before[..].first(), before.get(1), before.get(2)) {
            (None, ..) => (None, None),
            (Some(protocol), links, None) => (Some(*protocol), links.copied()),
            _ => return Err(fault(&"expected PROTOCOL.FIGURE or PROTOCOL.LINKS.FIGURE")),
        };
        let protocol = protocol.map(str::parse).transpose().map_err(|error| fault(&error))?;
        let links = links.map(str::parse).transpose().map_err(|error| fault(&error))?;
        if protocol.is_some() != figure.is_of_protocol() {
            let such = if protocol.is_some() {
                "it is of no protocol"
            } else {
                "it is of a protocol, such as Simple"
            };
            return Err(fault(&such));
        }
        Ok(Self { protocol, links, figure })
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(protocol) = self.protocol {
            write!(f, "{protocol}.")?;
        }
        if let Some(kind) = self.links {
            write!(f, "{kind}.")?;
        }
        write!(f, "{}", self.figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_is_set_where_it_is_read() {
        let mut machine = Machine::new("m").with(Protocol::Simple, Costs::free());
        if let Some(costs) = machine.costs_mut(Protocol::Simple) {
            costs.links.push((LinkKind::Network, Default::default()));
        }
        assert_eq!(Parameter::stated(&machine, Protocol::Simple), []);
        let mut value = 2e6;
        for figure in Figure::ALL {
            assert_eq!(figure.name().parse(), Ok(figure));
            for links in [None, Some(LinkKind::Network)] {
                let parameter = Parameter { links, ..Parameter::of(Protocol::Simple, figure) };
                value += 1.0;
                parameter.set(&mut machine, value);
                let is_there = links.is_none()
                    || figure.is_of_protocol() && !matches!(figure, Figure::Launch | Figure::Reduce);
                if is_there {
                    assert_eq!(parameter.get(&machine), Some(value), "{parameter}");
                }
            }
        }
        let names: Vec<String> =
            Parameter::stated(&machine, Protocol::Simple).iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 12, "{names:?}");
        assert!(names.contains(&"Simple.network.copy".to_owned()) && names.contains(&"egress".to_owned()));
    }

    #[test]
    fn names_are_read_back_and_others_refused() {
        for name in ["Simple.launch", "LL.network.copy", "egress", "LL128.step"] {
            assert_eq!(name.parse::<Parameter>().map(|it| it.to_string()), Ok(name.to_owned()));
        }
        for (name, part) in [
            ("launch", "it is of a protocol, such as Simple"),
            ("LL.egress", "it is of no protocol"),
            ("simple.speed", "there is no figure \"speed\""),
            ("fast.copy", "there is no protocol \"fast\""),
            ("LL.rope.copy", "there is no kind of link \"rope\""),
            ("LL.network.nvlink.copy", "expected PROTOCOL.FIGURE"),
        ] {
            let error = name.parse::<Parameter>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{name:?} is no figure of a machine: ")) && error.contains(part),
                "{error}"
            );
        }
    }

    #[test]
    fn values_stay_in_range() {
        let mut machine = Machine::new("m").with(Protocol::Simple, Costs::free());
        for (figure, given, kept) in
            [(Figure::Step, 1e-9, 0.1), (Figure::Step, f64::INFINITY, 1e9), (Figure::Copy, 0.0, 1e6)]
        {
            let parameter = Parameter::of(Protocol::Simple, figure);
            parameter.set(&mut machine, given);
            assert_eq!(parameter.get(&machine), Some(kept), "{figure} {given}");
        }
    }
}
