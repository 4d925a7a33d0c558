//! Pictures as SVG: plain data in, text out.
//!
//! Nothing here knows a command or an engine: who wants a picture says what stands where, in words and figures. Times are
//! picoseconds, and positions are rounded, so that the same data give the same bytes on every machine.

mod axis;
mod colours;
mod curves;
mod frame;
mod gantt;
mod heat_map;
mod path;
mod svg;
mod terminal;
mod topology;
mod unit;

pub(crate) use curves::{Axis, Curves, Line, curves};
pub(crate) use gantt::{Bar, Gantt, Group, Row, gantt};
pub(crate) use heat_map::{HeatMap, HeatRow, heat_map};
pub(crate) use path::{Cause, Chain, ChainLine, ChainStep, chain};
pub(crate) use terminal::terminal;
pub(crate) use topology::draw as topology;
pub(crate) use unit::{Unit, bytes as size, time};
