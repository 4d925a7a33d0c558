//! Not a model of a network: every message takes one picosecond, so that times count messages.

use super::network::Network;
use crate::error::Overflow;
use crate::events::{EventQueue, MessageId, Messages};
use crate::report::LinkLoad;
use crate::units::Picos;

pub(crate) struct Unit;

impl Network for Unit {
    fn inject(
        &mut self,
        message: MessageId,
        _: u32,
        messages: &mut Messages,
        queue: &mut EventQueue,
    ) -> Result<(), Overflow> {
        queue.schedule_arrival(Picos(1), message, messages)
    }

    fn arrive(&mut self, _: MessageId, _: &mut Messages, _: &mut EventQueue) -> Result<bool, Overflow> {
        Ok(true)
    }

    fn link_free(&mut self, _: u32, _: &mut Messages, _: &mut EventQueue) -> Result<(), Overflow> {
        Ok(())
    }

    fn link_loads(&self) -> Option<Vec<LinkLoad>> {
        None
    }
}
