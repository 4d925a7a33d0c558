//! The points of a sweep and their order.

use std::fmt;
use std::str::FromStr;

use super::error::SweepError;
use super::network::Network;
use super::outcome::NoResult;
use super::subject::Subject;
use crate::Size;
use crate::compare::Variant;
use crate::et::{EtOptions, NodeOrder, ReduceRate};

/// More points are a mistake.
const MOST: usize = 100_000_000;

/// An algorithm with its parameters for a number of ranks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unit {
    /// The index of the [`Subject`].
    pub subject: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// The parameters other than the number of ranks, with their values.
    pub parameters: Vec<(&'static str, usize)>,
    /// How it is lowered.
    pub variant: Variant,
    /// The values of all parameters, or why there are none.
    pub(super) values: Result<Vec<usize>, NoResult>,
}

/// A point: what is simulated, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Point {
    /// Its number, from 0.
    pub number: usize,
    /// The index of its [`Unit`].
    pub unit: usize,
    /// The index of its size.
    pub size: usize,
    /// The index of its [`Network`].
    pub network: usize,
}

/// A share of a sweep: of the groups of points that differ only in the network every n-th.
///
/// Read from `"i/n"`, with i from 1 to n.
///
/// ```
/// use collective::sweep::Shard;
///
/// assert_eq!("1/1".parse::<Shard>()?, Shard::WHOLE);
/// assert_eq!("3/16".parse::<Shard>()?.to_string(), "3/16");
/// assert!("0/4".parse::<Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    first: usize,
    every: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { first: 0, every: 1 };

    /// Whether it is all.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self == Self::WHOLE
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no share: expected I/N with I from 1 to N, such as 3/16");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let (index, count): (usize, usize) = index.parse().ok().zip(count.parse().ok()).ok_or_else(wrong)?;
        if index == 0 || index > count {
            return Err(wrong());
        }
        Ok(Self { first: index - 1, every: count })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first + 1, self.every)
    }
}

/// A product of algorithms, numbers of ranks, sizes and networks; the [module](super) says in which order.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub(super) subjects: Vec<Subject>,
    pub(super) ranks: Vec<usize>,
    pub(super) units: Vec<Unit>,
    pub(super) sizes: Vec<Size>,
    pub(super) networks: Vec<Network>,
    pub(super) order: NodeOrder,
    pub(super) reduce_rate: ReduceRate,
}

impl Sweep {
    /// The product of the axes. Nodes wait for [data only](NodeOrder::Dataflow), and reductions take no time.
    ///
    /// # Errors
    /// An axis is empty, or there are too many points.
    pub fn new(
        subjects: impl IntoIterator<Item = Subject>,
        ranks: impl IntoIterator<Item = usize>,
        sizes: impl IntoIterator<Item = Size>,
        networks: impl IntoIterator<Item = Network>,
    ) -> Result<Self, SweepError> {
        let subjects: Vec<Subject> = subjects.into_iter().collect();
        let (ranks, sizes): (Vec<usize>, Vec<Size>) =
            (ranks.into_iter().collect(), sizes.into_iter().collect());
        let networks: Vec<Network> = networks.into_iter().collect();
        let empty = [
            (subjects.is_empty(), "algorithms"),
            (ranks.is_empty(), "numbers of ranks"),
            (sizes.is_empty(), "sizes"),
            (networks.is_empty(), "networks"),
        ];
        if let Some((_, what)) = empty.iter().find(|(is_empty, _)| *is_empty) {
            return Err(SweepError::new(format!("there are no points: the sweep has no {what}")));
        }
        let units = units(&subjects, &ranks, &[Variant::OWN]);
        let sweep = Self {
            subjects,
            ranks,
            units,
            sizes,
            networks,
            order: NodeOrder::Dataflow,
            reduce_rate: ReduceRate::Free,
        };
        sweep.check()
    }

    /// With algorithms of the library that are lowered in several ways, each in turn; between the parameters and the sizes in the
    /// order of the points.
    ///
    /// # Errors
    /// There are no ways, or too many points.
    pub fn lowered(self, variants: &[Variant]) -> Result<Self, SweepError> {
        if variants.is_empty() {
            return Err(SweepError::new("there are no points: the sweep has no ways to lower algorithms"));
        }
        let units = units(&self.subjects, &self.ranks, variants);
        Self { units, ..self }.check()
    }

    /// Refuses too many points.
    fn check(self) -> Result<Self, SweepError> {
        let Self { units, sizes, networks, .. } = &self;
        let points = units.len().checked_mul(sizes.len()).and_then(|all| all.checked_mul(networks.len()));
        if points.is_none_or(|points| points > MOST) {
            let axes = format!("{} × {} × {}", units.len(), sizes.len(), networks.len());
            return Err(SweepError::new(format!("{axes} points are too many: expected at most {MOST}")));
        }
        Ok(self)
    }

    /// With nodes that wait in another way.
    #[must_use]
    pub fn order(self, order: NodeOrder) -> Self {
        Self { order, ..self }
    }

    /// With reductions that take time by the rate of traces, in whole microseconds.
    #[must_use]
    pub fn reduce_rate(self, reduce_rate: ReduceRate) -> Self {
        Self { reduce_rate, ..self }
    }

    /// How nodes wait.
    #[must_use]
    pub fn node_order(&self) -> NodeOrder {
        self.order
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups() * self.networks.len()
    }

    /// Whether there are none; never so.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Groups of points that differ only in the network.
    pub(super) fn groups(&self) -> usize {
        self.units.len() * self.sizes.len()
    }

    /// Algorithms with their parameters, in the order of the points.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The sizes, in the order of the points.
    #[must_use]
    pub fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// The networks, in the order of the points.
    #[must_use]
    pub fn networks(&self) -> &[Network] {
        &self.networks
    }

    /// The algorithm of a unit.
    ///
    /// # Panics
    /// The unit is of another sweep.
    #[must_use]
    pub fn subject(&self, unit: &Unit) -> &Subject {
        &self.subjects[unit.subject]
    }

    /// The name of a unit: the algorithm with its parameters, such as `allreduce_ring(channels=2)`.
    ///
    /// # Panics
    /// There is no unit of this index.
    #[must_use]
    pub fn unit_label(&self, unit: usize) -> String {
        let unit = &self.units[unit];
        let name = self.subject(unit).name();
        let parameters = unit.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        let protocol = unit.variant.protocol.map(|protocol| protocol.name().to_owned());
        let instances = unit.variant.instances.map(|instances| format!("instances={instances}"));
        let parameters: Vec<String> = parameters.chain(protocol).chain(instances).collect();
        if parameters.is_empty() { name.to_owned() } else { format!("{name}({})", parameters.join(", ")) }
    }

    /// The verified schedule of a unit, of [`Sweep::units`].
    ///
    /// # Errors
    /// There is none: the unit's points have no figures, for this reason.
    ///
    /// # Panics
    /// There is no unit of this index.
    pub fn schedule(&self, unit: usize) -> Result<std::sync::Arc<crate::Schedule>, NoResult> {
        let unit = &self.units[unit];
        self.subject(unit).compile(unit.values.as_ref().map_err(Clone::clone)?, unit.variant)
    }

    /// The point of a number.
    #[must_use]
    pub fn point(&self, number: usize) -> Option<Point> {
        let (group, network) = (number / self.networks.len(), number % self.networks.len());
        let (unit, size) = (group / self.sizes.len(), group % self.sizes.len());
        (number < self.len()).then_some(Point { number, unit, size, network })
    }

    /// The number of points of a share.
    #[must_use]
    pub fn len_of(&self, shard: Shard) -> usize {
        self.groups().saturating_sub(shard.first).div_ceil(shard.every) * self.networks.len()
    }

    /// The k-th point of a share.
    #[must_use]
    pub fn point_of(&self, shard: Shard, k: usize) -> Option<Point> {
        let (group, network) = (k / self.networks.len(), k % self.networks.len());
        let group = shard.first.checked_add(group.checked_mul(shard.every)?)?;
        self.point(group.checked_mul(self.networks.len())?.checked_add(network)?)
    }

    pub(super) fn options(&self, size: usize) -> EtOptions {
        EtOptions { size: self.sizes[size], reduce_rate: self.reduce_rate, order: self.order }
    }
}

/// Each algorithm on each number of ranks, with all its parameters, lowered in each way.
fn units(subjects: &[Subject], ranks: &[usize], variants: &[Variant]) -> Vec<Unit> {
    let mut units = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        for ranks in ranks {
            let variants = subject.lowered(variants);
            let unit = |values: Result<Vec<usize>, NoResult>, variant: Variant| Unit {
                subject: index,
                ranks: *ranks,
                parameters: values.as_ref().map_or(Vec::new(), |values| subject.parameters(values)),
                variant,
                values,
            };
            match subject.variants(*ranks) {
                Ok(all) => {
                    for values in all {
                        units.extend(variants.iter().map(|variant| unit(Ok(values.clone()), *variant)));
                    }
                }
                Err(why) => {
                    units.extend(variants.iter().map(|variant| unit(Err(why.clone()), *variant)));
                }
            }
        }
    }
    units
}
