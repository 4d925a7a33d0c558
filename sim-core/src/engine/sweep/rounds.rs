//! Partitions of ranks that run in parallel, in rounds.

use rayon::prelude::*;

/// Some ranks of a run.
pub(super) trait Part: Send {
    /// What goes to ranks of another partition.
    type Parcel;

    /// Runs until nothing more can run here; None if the event engine has to run the graph.
    fn run(&mut self) -> Option<()>;

    /// What is for other partitions, since the last call.
    fn take_parcels(&mut self) -> Vec<Self::Parcel>;

    /// The rank that a parcel is for.
    fn receiver(parcel: &Self::Parcel) -> u32;

    fn receive_parcel(&mut self, parcel: Self::Parcel) -> Option<()>;
}

/// Runs partitions, each from the rank that `starts` gives for it, until nothing more can run.
///
/// What crosses is handed over between the rounds, in the order of the partitions.
pub(super) fn run<P: Part>(partitions: &mut [P], starts: &[u32]) -> Option<()> {
    if let [partition] = partitions {
        return partition.run();
    }
    loop {
        partitions.par_iter_mut().try_for_each(P::run)?;
        let mut moved = false;
        for at in 0..partitions.len() {
            for parcel in partitions[at].take_parcels() {
                let to = starts.partition_point(|start| *start <= P::receiver(&parcel)) - 1;
                partitions[to].receive_parcel(parcel)?;
                moved = true;
            }
        }
        if !moved {
            return Some(());
        }
    }
}
