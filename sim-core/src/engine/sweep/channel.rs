//! The FIFO channels of connections: arrivals that no RECV has taken yet.

use crate::units::Picos;

/// A message that has been sent: when it arrives, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) at: Picos,
    pub(super) bytes: u64,
}

/// One connection, seen from its receiver.
pub(super) struct Channel {
    head: u32,
    tail: u32,
    /// The rank that waits for the next arrival, counted from the first of the partition.
    pub(super) waiter: u32,
}

/// No rank.
pub(super) const NO_RANK: u32 = u32::MAX;

const END: u32 = u32::MAX;

impl Channel {
    pub(super) const EMPTY: Self = Self { head: END, tail: END, waiter: NO_RANK };
}

/// The arrivals of all channels of a partition, in places that are used again, the last left one first: so
/// the working set is what is under way, not the number of messages.
#[derive(Default)]
pub(super) struct Arrivals {
    places: Vec<Place>,
    unused: Option<u32>,
}

struct Place {
    arrival: Arrival,
    /// In the same channel; of an unused place the next unused one.
    next: u32,
}

impl Arrivals {
    /// Adds to the end of a channel; None if there are too many.
    #[inline]
    pub(super) fn push(&mut self, channel: &mut Channel, arrival: Arrival) -> Option<()> {
        let place = Place { arrival, next: END };
        let at = match self.unused {
            Some(at) => {
                let next = std::mem::replace(&mut self.places[at as usize], place).next;
                self.unused = (next != END).then_some(next);
                at
            }
            None => {
                let at = u32::try_from(self.places.len()).ok().filter(|at| *at != END)?;
                self.places.push(place);
                at
            }
        };
        if channel.head == END {
            channel.head = at;
        } else {
            self.places[channel.tail as usize].next = at;
        }
        channel.tail = at;
        Some(())
    }

    /// Takes the first of a channel.
    #[inline]
    pub(super) fn pop(&mut self, channel: &mut Channel) -> Option<Arrival> {
        let at = channel.head;
        let place = self.places.get_mut(at as usize)?;
        channel.head = std::mem::replace(&mut place.next, self.unused.unwrap_or(END));
        let arrival = place.arrival;
        self.unused = Some(at);
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_first_in_first_out_and_share_their_places() {
        let (mut arrivals, mut a, mut b) = (Arrivals::default(), Channel::EMPTY, Channel::EMPTY);
        let arrival = |at| Arrival { at: Picos(at), bytes: at };
        for at in [3, 1, 2] {
            arrivals.push(&mut a, arrival(at)).unwrap();
            arrivals.push(&mut b, arrival(10 * at)).unwrap();
        }
        assert_eq!([arrivals.pop(&mut a), arrivals.pop(&mut b)], [Some(arrival(3)), Some(arrival(30))]);
        arrivals.push(&mut a, arrival(4)).unwrap();
        assert_eq!([1, 2, 4].map(|_| arrivals.pop(&mut a).unwrap().bytes), [1, 2, 4]);
        assert_eq!(arrivals.pop(&mut a), None);
        arrivals.push(&mut a, arrival(5)).unwrap();
        assert_eq!((arrivals.pop(&mut a), arrivals.pop(&mut a)), (Some(arrival(5)), None));
        assert_eq!([arrivals.pop(&mut b), arrivals.pop(&mut b)], [Some(arrival(10)), Some(arrival(20))]);
        assert_eq!(arrivals.places.len(), 6);
    }
}
