//! Files of pictures: SVG as it is drawn, PNG made of it.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use crate::output;

/// Where a picture goes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ImageArguments {
    /// Draws a picture, as SVG: shapes with texts that a browser shows beside the pointer.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Draws the same as PNG, at twice the size.
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
}

impl ImageArguments {
    /// Whether there is anything to draw.
    pub(crate) fn are_given(&self) -> bool {
        self.first().is_some()
    }

    /// The first argument that is given.
    pub(crate) fn first(&self) -> Option<&'static str> {
        match (&self.svg, &self.png) {
            (Some(_), _) => Some("--svg"),
            (_, Some(_)) => Some("--png"),
            _ => None,
        }
    }

    /// Says before anything is computed what cannot be written.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.png.is_some() { available() } else { Ok(()) }
    }

    /// Writes a picture to where it goes.
    pub(crate) fn write(&self, svg: &str) -> Result<(), Failure> {
        if let Some(path) = &self.svg {
            output::write_file(path, svg)?;
        }
        if let Some(path) = &self.png {
            write_png(path, svg)?;
        }
        Ok(())
    }
}

/// Writes a picture as its name says.
pub(crate) fn write(path: &Path, svg: &str) -> Result<(), Failure> {
    match format(path)? {
        Format::Svg => output::write_file(path, svg),
        Format::Png => write_png(path, svg),
    }
}

/// Says whether a picture can be written under a name.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    match format(path)? {
        Format::Svg => Ok(()),
        Format::Png => available(),
    }
}

enum Format {
    Svg,
    Png,
}

fn format(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => Err(Failure::input(format!(
            "{}: expected a picture with the ending .svg or .png",
            path.display()
        ))),
    }
}

#[cfg(feature = "png")]
use of_svg::{available, write_png};

#[cfg(feature = "png")]
mod of_svg {
    use std::cmp::Reverse;
    use std::collections::BTreeMap;
    use std::path::Path;

    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree};

    use crate::failure::Failure;
    use crate::output;

    /// Legible where pictures are shown small, and on fine screens.
    const SCALE: f32 = 2.0;
    /// More than a picture is high, and what a machine can hold.
    const MOST_PIXELS: f32 = 16_000.0;

    pub(super) fn available() -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn write_png(path: &Path, svg: &str) -> Result<(), Failure> {
        let bytes = png(svg).map_err(|why| Failure::input(format!("{}: {why}", path.display())))?;
        output::write_bytes(path, &bytes)
    }

    /// The same on every machine: with fonts of its own, whatever else is installed.
    fn png(svg: &str) -> Result<Vec<u8>, String> {
        let mut options = Options::default();
        for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
            options.fontdb_mut().load_font_data(font.to_vec());
        }
        let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
        let size = tree.size();
        let scale = SCALE.min(MOST_PIXELS / size.width().max(size.height()));
        let pixels = |length: f32| (length * scale).round().max(1.0) as u32;
        let mut map =
            Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the picture is too large")?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut map.as_mut());
        encoded(&map).map_err(|error| error.to_string())
    }

    /// As small as the format makes it: with a palette; pictures have a white ground, so no pixel needs to be seen through.
    fn encoded(map: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
        let colours: Vec<[u8; 3]> =
            map.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
        let (palette, pixels) = indexed(&colours);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, map.width(), map.height());
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.concat());
        encoder.set_compression(png::Compression::High);
        // Even areas repeat as they are; filters are for photographs.
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        Ok(bytes)
    }

    /// At most 256 colours, and by pixel the index of its own: the most frequent colours are kept, and others, as there are where text
    /// and lines are smoothed, become the nearest of those.
    fn indexed(pixels: &[[u8; 3]]) -> (Vec<[u8; 3]>, Vec<u8>) {
        let mut counts = BTreeMap::<[u8; 3], u64>::new();
        for run in pixels.chunk_by(|one, next| one == next) {
            *counts.entry(run[0]).or_default() += run.len() as u64;
        }
        let mut palette: Vec<([u8; 3], u64)> =
            counts.iter().map(|(colour, count)| (*colour, *count)).collect();
        palette.sort_by_key(|(colour, count)| (Reverse(*count), *colour));
        palette.truncate(256);
        let palette: Vec<[u8; 3]> = palette.into_iter().map(|(colour, _)| colour).collect();
        let distance = |one: &[u8; 3], other: &[u8; 3]| -> u32 {
            one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(*other)).pow(2)).sum()
        };
        let nearest =
            |colour: &[u8; 3]| (0..=u8::MAX).zip(&palette).min_by_key(|(_, known)| distance(colour, known));
        let numbers: BTreeMap<[u8; 3], u8> =
            counts.keys().filter_map(|colour| Some((*colour, nearest(colour)?.0))).collect();
        let mut indices = Vec::with_capacity(pixels.len());
        for run in pixels.chunk_by(|one, next| one == next) {
            let number = numbers.get(&run[0]).copied().unwrap_or_default();
            indices.resize(indices.len() + run.len(), number);
        }
        (palette, indices)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn few_colours_are_kept_and_many_become_their_neighbours() {
            let pixels = [[255, 255, 255], [0, 114, 178], [255, 255, 255], [0, 0, 0]];
            let (palette, indices) = indexed(&pixels);
            let found: Vec<[u8; 3]> = indices.iter().map(|index| palette[usize::from(*index)]).collect();
            assert_eq!(found, pixels);
            // 200 colours twice, then many once: those are kept, and each of these becomes one that is no further than any other.
            let frequent: Vec<[u8; 3]> = (0..200).map(|level| [level, 255 - level, 40]).collect();
            let rare = (0..=255).flat_map(|level| [[level, level, 7], [level, 9, level]]);
            let pixels: Vec<[u8; 3]> = frequent.iter().chain(&frequent).copied().chain(rare).collect();
            let (palette, indices) = indexed(&pixels);
            assert_eq!(palette.len(), 256);
            let far = |one: &[u8; 3], other: &[u8; 3]| -> i32 {
                one.iter().zip(other).map(|(one, other)| (i32::from(*one) - i32::from(*other)).pow(2)).sum()
            };
            for (pixel, index) in pixels.iter().zip(indices) {
                let found = far(pixel, &palette[usize::from(index)]);
                assert!(palette.iter().all(|other| far(pixel, other) >= found), "{pixel:?}");
                assert!(!frequent.contains(pixel) || found == 0, "{pixel:?}");
            }
        }

        #[test]
        fn a_picture_has_its_size_and_its_text() {
            let svg = |text: &str| {
                format!(
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\" font-family=\"DejaVu Sans\">\
                     <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/><text x=\"2\" y=\"15\">{text}</text></svg>"
                )
            };
            let map = Pixmap::decode_png(&png(&svg("Ring →")).unwrap()).unwrap();
            assert_eq!((map.width(), map.height()), (120, 40));
            let dark = map.pixels().iter().filter(|pixel| pixel.red() < 100).count();
            assert!(dark > 50, "{dark}");
            let blank = Pixmap::decode_png(&png(&svg("")).unwrap()).unwrap();
            assert!(blank.pixels().iter().all(|pixel| pixel.red() == 255));
        }
    }
}

#[cfg(not(feature = "png"))]
fn available() -> Result<(), Failure> {
    Err(Failure::input(
        "PNG is not part of this build: build collective-cli with the feature png, or draw as SVG (--svg)",
    ))
}

#[cfg(not(feature = "png"))]
fn write_png(_: &Path, _: &str) -> Result<(), Failure> {
    available()
}
