//! Colours that are told apart in print and by the colour-blind (Okabe and Ito, without the yellow that is too light for lines).

/// For lines and bars, in the order of use.
pub(super) const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280"];

pub(super) const INK: &str = "#111827";
/// Around what is critical.
pub(super) const CRITICAL: &str = "#d5260b";
pub(super) const FAINT: &str = "#6b7280";
pub(super) const GRID: &str = "#e5e7eb";
pub(super) const FRAME: &str = "#9ca3af";

/// A share from 0 to 1, from white to dark blue; evenly darker, so that it survives a copier.
pub(super) fn heat(share: f64) -> String {
    /// ColorBrewer's Blues, its ends and middle.
    const STOPS: [(f64, [f64; 3]); 5] = [
        (0.0, [247.0, 251.0, 255.0]),
        (0.25, [198.0, 219.0, 239.0]),
        (0.5, [107.0, 174.0, 214.0]),
        (0.75, [33.0, 113.0, 181.0]),
        (1.0, [8.0, 48.0, 107.0]),
    ];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let after = STOPS.iter().position(|(at, _)| *at >= share).unwrap_or(STOPS.len() - 1).max(1);
    let ((low, from), (high, to)) = (STOPS[after - 1], STOPS[after]);
    let part = (share - low) / (high - low);
    let [r, g, b] = [0, 1, 2].map(|at| (from[at] + (to[at] - from[at]) * part).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}
