//! Pictures of a run, and its timeline.

use std::path::PathBuf;

use chakra_et::graph::Graph;
use clap::{Args, ValueEnum};
use collective::sim::Report;
use collective::sim::topology::LoadedTopology;

use super::workload::TimelineFile;
use super::{Simulate, Subject};
use crate::failure::Failure;
use crate::image::ImageArguments;
use crate::recording::Recording;
use crate::{picture, units_shown, views};

/// What is drawn of a run.
#[derive(Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct PictureArguments {
    #[command(flatten)]
    pub(super) image: ImageArguments,
    /// What --svg and --png draw [default: gantt].
    #[arg(long, value_name = "FIGURE")]
    plot: Option<Plot>,
    /// Writes what happened when, as a Chrome trace (ui.perfetto.dev opens it): ranks are processes; streams, groups,
    /// thread blocks and links are threads.
    #[arg(long, value_name = "FILE")]
    pub(super) timeline: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Plot {
    /// The steps of thread blocks and what crosses links, as bars over time, with the critical path.
    Gantt,
    /// How much of its bandwidth each link uses, over time.
    Links,
    /// The chain of steps that determines the time, and what the time goes into.
    Path,
}

impl PictureArguments {
    /// Whether the run has to be recorded.
    pub(super) fn are_given(&self) -> bool {
        self.image.are_given() || self.timeline.is_some()
    }

    /// Says before anything runs what cannot be drawn.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.plot.is_some() && !self.image.are_given() {
            return Err(Failure::input(
                "--plot says what is drawn; where to: --svg FILE.svg or --png FILE.png",
            ));
        }
        self.image.check()
    }

    /// The first argument that is for pictures of one collective.
    pub(super) fn first_for_algorithms(&self) -> Option<&'static str> {
        self.image.first().or(self.plot.map(|_| "--plot"))
    }
}

impl Simulate {
    /// Draws a run, and writes its timeline, as far as that is asked for.
    pub(super) fn draw(
        &self,
        subject: &Subject,
        graph: &Graph,
        loaded: Option<&LoadedTopology>,
        report: &Report,
    ) -> Result<(), Failure> {
        let topology = loaded.map(|loaded| &loaded.topology);
        if let (Some(path), Some(recording)) = (&self.pictures.timeline, &report.recording) {
            let ranks = u32::try_from(graph.rank_count()).unwrap_or(u32::MAX);
            let mut file = TimelineFile::create(path, vec![String::new()], ranks, topology)?;
            recording.tell(graph, &mut file);
            file.finish()?;
        }
        if !self.pictures.image.are_given() {
            return Ok(());
        }
        let Some(recording) = Recording::of(graph, report, topology) else { return Ok(()) };
        let (title, subtitle) = self.heading(subject, report);
        let svg = match self.pictures.plot.unwrap_or(Plot::Gantt) {
            Plot::Gantt => picture::gantt(&views::gantt(&recording, &title, &subtitle)),
            Plot::Links if recording.links.is_empty() && topology.is_none() => {
                return Err(Failure::input("--plot links: the model loggp knows no links"));
            }
            Plot::Path if !recording.has_path() => {
                return Err(Failure::input("--plot path: the model machine has no critical path"));
            }
            Plot::Links => picture::heat_map(&views::links(&recording, &title, &subtitle)),
            Plot::Path => picture::chain(&views::path(&recording, &title, &subtitle)),
        };
        self.pictures.image.write(&svg)
    }

    /// What was simulated, and on what with which result.
    fn heading(&self, subject: &Subject, report: &Report) -> (String, String) {
        let parameters = subject.parameters.iter().filter(|(name, _)| *name != "ranks");
        let parameters: String = parameters.map(|(name, value)| format!(" {name}={value}")).collect();
        let size = subject.size.map_or(String::new(), |size| format!(", {size}"));
        let ranks = match report.finish.len() {
            1 => "1 rank".to_owned(),
            ranks => format!("{ranks} ranks"),
        };
        let title = format!("{}{parameters}{size}, {ranks}", subject.name);
        let (_, busbw) = self.bandwidths(subject, report);
        let busbw = busbw.map_or(String::new(), |busbw| format!(", bus bandwidth {busbw:.1} GB/s"));
        let placement = self.placement.as_ref().map(|placement| format!(", placement {placement}"));
        let subtitle = format!(
            "on {} ({} under {} conventions{}): {}{busbw}",
            self.network(),
            self.model_in_words(&subject.program, report.model),
            report.conventions.name(),
            placement.unwrap_or_default(),
            units_shown::time(report.makespan),
        );
        (title, subtitle)
    }
}
