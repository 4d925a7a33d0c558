//! Nodes of ranks, joined by network cards.

use std::borrow::Cow;
use std::sync::Arc;

use super::wiring::{Diameter, End, OwnDevice, Span, Wiring};
use super::{LinkSpec, Topology, TopologyError, checked_figure};
use crate::machine::LinkKind;

/// How the network cards of a [`Cluster`] hang on its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CardOrder {
    /// One network for all cards: card c of node n is its member n · cards + c, so that the cards of a node are neighbours.
    ByNode,
    /// One network for all cards: card c of node n is its member c · nodes + n, so that the cards of one number are neighbours
    /// and share a leaf, as in a rail-optimised network with a spine.
    ByRail,
    /// A network for each card number, a *rail*: card c of node n is member n of rail c. Nothing joins the rails.
    Rails,
}

/// Equal nodes, each with some network cards, joined by a network among the cards.
///
/// Rank r is member r mod g of node ⌊r / g⌋, where g is the number of ranks of a node. The ranks of a node share its cards: member
/// m has card ⌊m · cards / g⌋. A message within a node takes the node's own links; any other goes from the rank to its card,
/// through the network, and from the card to the rank. With `through_peer` a message to a rank with another card number first
/// goes, within the node, to the member that has the destination's number, and leaves from that one's card, so that it stays on
/// one rail (NCCL's PXN). With [`CardOrder::Rails`] there is no other way.
///
/// Cards limit what a node sends: several ranks may share a card, and what a card sends goes over its link into the network.
///
/// Unless [`with_link_kind`](Topology::with_link_kind) says otherwise of the parts, links of the network are of the kind
/// [`Network`](LinkKind::Network), and those between ranks and cards of the kind [`Pcie`](LinkKind::Pcie).
///
/// | links in the order of their numbers | how many |
/// |---|---|
/// | those of node 0, node 1, … | nodes · links of a node |
/// | rank → its card, by rank; card → rank | ranks each, if there is a `card_link` |
/// | those of the network, or of rail 0, rail 1, … | |
///
/// ```
/// use sim_core::topology::{CardOrder, Cluster, Dimension, LinkSpec, Topology};
///
/// // A rail-optimised cluster: 4 nodes of 8 GPUs on an NVSwitch, a card for each GPU, a switch for each rail.
/// let cluster = Cluster {
///     nodes: 4,
///     node: Topology::new([Dimension::switch(8, "450 GB/s".parse()?, "250 ns".parse()?)])?,
///     cards: 8,
///     card_link: Some(LinkSpec::new("64 GB/s".parse()?, "300 ns".parse()?)),
///     network: Topology::new([Dimension::switch(4, "400 Gb/s".parse()?, "1 us".parse()?)])?,
///     order: CardOrder::Rails,
///     through_peer: true,
/// };
/// let topology = cluster.build()?;
/// let mut route = Vec::new();
/// topology.route(0, 9, &mut route);
/// let hops: Vec<_> = route.iter().filter_map(|id| topology.link(*id)).map(|link| link.description).collect();
/// assert_eq!(
///     hops,
///     [
///         "rank 0 → switch of node 0",
///         "switch of node 0 → rank 1",
///         "rank 1 → card 1 of node 0",
///         "card 1 of node 0 → switch of rail 1",
///         "switch of rail 1 → card 1 of node 1",
///         "card 1 of node 1 → rank 9",
///     ]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Number of nodes.
    pub nodes: u32,
    /// A node: its ranks and the links among them.
    pub node: Topology,
    /// Number of cards of a node; the ranks of a node are a multiple of it.
    pub cards: u32,
    /// The link between a rank and its card, each way. None: each rank is its own card, and they are as many.
    pub card_link: Option<LinkSpec>,
    /// The network; its members are the cards.
    pub network: Topology,
    /// Which card is which member of the network.
    pub order: CardOrder,
    /// Whether messages between different card numbers change the rail within the node.
    pub through_peer: bool,
}

impl Cluster {
    /// The topology.
    ///
    /// # Errors
    /// [`TopologyError`] if the cards do not divide the ranks of a node, or are not as many as the members of the network, or
    /// the topology is too large.
    pub fn build(self) -> Result<Topology, TopologyError> {
        checked_figure("nodes", self.nodes)?;
        let ranks = self.node.rank_count();
        if self.cards == 0 || !ranks.is_multiple_of(self.cards) {
            let expected = format!("a number that divides the {ranks} ranks of a node");
            return Err(TopologyError::Figure { what: "cards", value: u64::from(self.cards), expected });
        }
        if self.card_link.is_none() && self.cards != ranks {
            let expected =
                format!("{ranks}, one for each rank of a node, or a link from the ranks to their cards");
            return Err(TopologyError::Figure { what: "cards", value: u64::from(self.cards), expected });
        }
        let (cards, made_of) = match self.order {
            CardOrder::Rails => (u64::from(self.nodes), "one of each node on a rail".to_owned()),
            CardOrder::ByNode | CardOrder::ByRail => (
                u64::from(self.nodes) * u64::from(self.cards),
                format!("{} nodes of {}", self.nodes, self.cards),
            ),
        };
        if cards != u64::from(self.network.rank_count()) {
            let members = self.network.rank_count();
            return Err(TopologyError::Cards { cards, made_of, members });
        }
        if self.node.is_placed() || self.network.is_placed() {
            return Err(TopologyError::PlacedPart);
        }
        let members = u64::from(self.nodes) * u64::from(ranks);
        let rails = if self.order == CardOrder::Rails { u64::from(self.cards) } else { 1 };
        let sum = |what, of_node: u64, of_network: u64, cards: u64| {
            let nodes = u64::from(self.nodes).checked_mul(of_node);
            let all = nodes.zip(rails.checked_mul(of_network));
            let all = all.and_then(|(nodes, rails)| nodes.checked_add(rails)?.checked_add(cards));
            all.ok_or(TopologyError::TooLarge { what, limit: u64::MAX })
        };
        sum("links", self.node.link_count(), self.network.link_count(), members.saturating_mul(2))?;
        sum("devices", Wiring::devices(&self.node), Wiring::devices(&self.network), members)?;
        Topology::of(Arc::new(self).into(), members)
    }

    fn node_ranks(&self) -> u32 {
        self.node.rank_count()
    }

    fn card(&self, member: u32) -> u32 {
        member / (self.node_ranks() / self.cards)
    }

    /// The copy of the network, and the member of it, that a card of a node is.
    fn attachment(&self, node: u32, card: u32) -> (u64, u32) {
        match self.order {
            CardOrder::ByNode => (0, node * self.cards + card),
            CardOrder::ByRail => (0, card * self.nodes + node),
            CardOrder::Rails => (u64::from(card), node),
        }
    }

    /// The node and the card that a member of a copy of the network is.
    fn attached(&self, copy: u64, member: u32) -> (u32, u32) {
        match self.order {
            CardOrder::ByNode => (member / self.cards, member % self.cards),
            CardOrder::ByRail => (member % self.nodes, member / self.nodes),
            CardOrder::Rails => (member, copy as u32),
        }
    }

    fn rails(&self) -> u64 {
        if self.order == CardOrder::Rails { u64::from(self.cards) } else { 1 }
    }

    fn ranks(&self) -> u64 {
        u64::from(self.nodes) * u64::from(self.node_ranks())
    }

    fn card_links(&self) -> u64 {
        if self.card_link.is_some() { self.ranks() } else { 0 }
    }

    fn node_links(&self) -> u64 {
        u64::from(self.nodes) * self.node.link_count()
    }

    fn node_devices(&self) -> u64 {
        u64::from(self.nodes) * Wiring::devices(&self.node)
    }

    fn card_devices(&self) -> u64 {
        if self.card_link.is_some() { u64::from(self.nodes) * u64::from(self.cards) } else { 0 }
    }

    /// Where a card is: a device, or without links to cards the rank itself.
    fn card_end(&self, node: u32, card: u32) -> End {
        if self.card_link.is_some() {
            return End::Device(
                self.node_devices() + u64::from(node) * u64::from(self.cards) + u64::from(card),
            );
        }
        End::Member(node * self.node_ranks() + card)
    }

    /// Whether messages between these cards change the rail within the node.
    fn changes_rail(&self, from: u32, to: u32) -> bool {
        from != to && (self.through_peer || self.order == CardOrder::Rails)
    }
}

impl Wiring for Cluster {
    fn members(&self) -> u32 {
        self.nodes * self.node_ranks()
    }

    fn devices(&self) -> u64 {
        self.node_devices() + self.card_devices() + self.rails() * Wiring::devices(&self.network)
    }

    fn spans(&self) -> Vec<Span> {
        let renamed = |prefix: &str, topology: &Topology, copies: u64| {
            let spans = topology.spans();
            let sort = |span: &Span| (span.what.clone(), span.link, span.kind, span.stated);
            let alike = spans.windows(2).all(|two| sort(&two[0]) == sort(&two[1]));
            let named = |span: Span, times| Span {
                count: span.count * times,
                what: Cow::Owned(format!("{prefix} {}", span.what)),
                ..span
            };
            match spans.first().cloned() {
                Some(first) if alike => {
                    let count = spans.iter().map(|span| span.count).sum();
                    vec![named(Span { count, ..first }, copies)]
                }
                _ => {
                    let one: Vec<Span> = spans.into_iter().map(|span| named(span, 1)).collect();
                    (0..copies).flat_map(|_| one.clone()).collect()
                }
            }
        };
        let mut spans = renamed("node:", &self.node, u64::from(self.nodes));
        spans.extend(self.card_link.map(|link| {
            Span::new("rank to card link", 2 * self.card_links(), link).by_default(LinkKind::Pcie)
        }));
        let prefix = if self.order == CardOrder::Rails { "rail:" } else { "network:" };
        let network = renamed(prefix, &self.network, self.rails()).into_iter();
        spans.extend(network.map(|span| span.by_default(LinkKind::Network)));
        spans
    }

    fn ends(&self, link: u64) -> (End, End) {
        if link < self.node_links() {
            let (node, link) = (link / self.node.link_count(), link % self.node.link_count());
            let place = |end| match end {
                // A node is one of fewer than 2^32.
                End::Member(member) => End::Member(node as u32 * self.node_ranks() + member),
                End::Device(device) => End::Device(node * Wiring::devices(&self.node) + device),
            };
            let (from, to) = self.node.ends(link);
            return (place(from), place(to));
        }
        let link = link - self.node_links();
        if link < 2 * self.card_links() {
            let rank = (link % self.ranks()) as u32;
            let (node, member) = (rank / self.node_ranks(), rank % self.node_ranks());
            let (rank, card) = (End::Member(rank), self.card_end(node, self.card(member)));
            return if link < self.card_links() { (rank, card) } else { (card, rank) };
        }
        let link = link - 2 * self.card_links();
        let (copy, link) = (link / self.network.link_count(), link % self.network.link_count());
        let place = |end| match end {
            End::Member(member) => {
                let (node, card) = self.attached(copy, member);
                self.card_end(node, card)
            }
            End::Device(device) => {
                let before = self.node_devices() + self.card_devices();
                End::Device(before + copy * Wiring::devices(&self.network) + device)
            }
        };
        let (from, to) = self.network.ends(link);
        (place(from), place(to))
    }

    fn device(&self, device: u64) -> OwnDevice {
        if device < self.node_devices() {
            let of_node = Wiring::devices(&self.node);
            let own = Wiring::device(&self.node, device % of_node);
            let name = format!("{} of node {}", own.name, device / of_node);
            return OwnDevice { name, within_node: true, ..own };
        }
        let device = device - self.node_devices();
        if device < self.card_devices() {
            let cards = u64::from(self.cards);
            return OwnDevice {
                name: format!("card {} of node {}", device % cards, device / cards),
                card: true,
                tier: 1,
                within_node: false,
            };
        }
        let device = device - self.card_devices();
        let of_copy = Wiring::devices(&self.network);
        let own = Wiring::device(&self.network, device % of_copy);
        let name = match self.order {
            CardOrder::Rails => format!("{} of rail {}", own.name, device / of_copy),
            CardOrder::ByNode | CardOrder::ByRail => own.name,
        };
        let tier = own.tier + u32::from(self.card_link.is_some());
        OwnDevice { name, tier, within_node: false, ..own }
    }

    fn route(&self, from: u32, to: u32, hop: &mut dyn FnMut(u64)) {
        let ranks = self.node_ranks();
        let ((first, mut member), (last, target)) = ((from / ranks, from % ranks), (to / ranks, to % ranks));
        let within = u64::from(first) * self.node.link_count();
        if first == last {
            return Wiring::route(&self.node, member, target, &mut |link| hop(within + link));
        }
        if self.changes_rail(self.card(member), self.card(target)) {
            Wiring::route(&self.node, member, target, &mut |link| hop(within + link));
            member = target;
        }
        let rank = u64::from(first * ranks + member);
        if self.card_link.is_some() {
            hop(self.node_links() + rank);
        }
        let (copy, entry) = self.attachment(first, self.card(member));
        let (_, exit) = self.attachment(last, self.card(target));
        let before = self.node_links() + 2 * self.card_links() + copy * self.network.link_count();
        Wiring::route(&self.network, entry, exit, &mut |link| hop(before + link));
        if self.card_link.is_some() {
            hop(self.node_links() + self.card_links() + u64::from(to));
        }
    }

    fn diameter(&self) -> Diameter {
        let (node, network) = (Wiring::diameter(&self.node), Wiring::diameter(&self.network));
        self.tried_diameter().unwrap_or_else(|| {
            let within = if self.changes_rail(0, 1) { node.hops } else { 0 };
            let cards = if self.card_link.is_some() { 2 } else { 0 };
            Diameter { hops: node.hops.max(within + cards + network.hops), exact: false }
        })
    }

    fn injection(&self) -> [f64; 2] {
        let node = Wiring::injection(&self.node);
        let out = match self.card_link {
            Some(link) => [link.bandwidth.bytes_per_s(); 2],
            None => Wiring::injection(&self.network),
        };
        [node[0] + out[0], node[1] + out[1]]
    }

    fn halving(&self) -> Option<f64> {
        None
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let (Some(link), true) = (self.card_link, self.nodes > 1) {
            let [_, card] = Wiring::injection(&self.network);
            let ranks = self.node_ranks() / self.cards;
            let sent = f64::from(ranks) * link.bandwidth.bytes_per_s();
            notes.push(format!(
                "a network card serves {ranks} of the {} ranks of a node; it sends {} into the network, its ranks {} to it",
                self.node_ranks(),
                gigabytes(card),
                gigabytes(sent)
            ));
        }
        if self.changes_rail(0, 1) && self.cards > 1 {
            notes.push("messages to another card number change the rail within the sender's node".to_owned());
        }
        for (name, part) in [("within a node: ", &self.node), ("network: ", &self.network)] {
            notes.extend(part.notes().into_iter().map(|note| format!("{name}{note}")));
        }
        notes
    }
}

fn gigabytes(bytes_per_s: f64) -> String {
    format!("{} GB/s", (bytes_per_s / 1e6).round() / 1e3)
}
