//! A plot as inline SVG: axes, grid and what a caller draws on them.
//!
//! Drawn at twice the size at which it is shown, because the library rounds to whole pixels.

use super::axis::Axis;
use super::style::{AXIS, BAND, GRID, LABEL};
use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;
use std::collections::BTreeSet;

/// Where a caller draws.
pub(in crate::render) type Canvas<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

const INVARIANT: &str = "invariant: drawing into memory does not fail";
/// Points of a line beyond this are thinned.
const MOST_POINTS: usize = 500;
/// Width of the cells of [`dots`], as drawn.
const CELL: i32 = 6;

/// Everything around the data.
pub(in crate::render) struct Plot {
    /// Width and height as shown at full width.
    pub(in crate::render) size: (u32, u32),
    /// Title, for people who cannot see it.
    pub(in crate::render) title: String,
    /// Description of its content, likewise.
    pub(in crate::render) description: String,
    /// Room for the labels of the vertical axis.
    pub(in crate::render) left: u32,
    pub(in crate::render) x: Axis,
    pub(in crate::render) y: Axis,
}

impl Plot {
    /// Draws axes and grid, then what `draw` adds. No text from outside may be drawn.
    pub(in crate::render) fn draw(self, draw: impl FnOnce(&mut Canvas<'_>)) -> Markup {
        let (width, height) = (2 * self.size.0, 2 * self.size.1);
        let (x_ticks, y_ticks) = (self.x.ticks.len(), self.y.ticks.len());
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
            let mut canvas = ChartBuilder::on(&root)
                .margin_top(12)
                .margin_right(36)
                .x_label_area_size(50)
                .y_label_area_size(2 * self.left)
                .build_cartesian_2d(self.x, self.y)
                .expect(INVARIANT);
            let label = ("sans-serif", 25).into_font().color(&LABEL);
            let mut mesh = canvas.configure_mesh();
            if y_ticks == 0 {
                mesh.disable_y_mesh().disable_y_axis();
            }
            mesh.light_line_style(TRANSPARENT)
                .bold_line_style(GRID.stroke_width(2))
                .axis_style(AXIS.stroke_width(2))
                .label_style(label)
                .x_labels(x_ticks)
                .y_labels(y_ticks)
                .draw()
                .expect(INVARIANT);
            draw(&mut canvas);
            root.present().expect(INVARIANT);
        }
        html! {
            svg viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(self.title) {
                title { (self.title) }
                desc { (self.description) }
                (PreEscaped(inner(&svg)))
            }
        }
    }
}

/// The text between the library's outermost tags.
fn inner(svg: &str) -> &str {
    let start = svg.find('>').map_or(0, |at| at + 1);
    svg[start..]
        .strip_suffix("</svg>\n")
        .or_else(|| svg[start..].strip_suffix("</svg>"))
        .unwrap_or(&svg[start..])
}

/// How a line looks.
#[derive(Clone, Copy)]
pub(in crate::render) struct Pen {
    pub(in crate::render) colour: RGBColor,
    /// Width as shown.
    pub(in crate::render) width: f64,
    pub(in crate::render) opacity: f64,
}

impl Pen {
    /// A pen through which nothing is seen.
    pub(in crate::render) fn solid(colour: RGBColor, width: f64) -> Self {
        Self {
            colour,
            width,
            opacity: 1.0,
        }
    }
}

/// Draws a line through points in ascending order.
pub(in crate::render) fn line(canvas: &mut Canvas<'_>, points: &[(f64, f64)], pen: Pen) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few pixels"
    )]
    let style = pen
        .colour
        .mix(pen.opacity)
        .stroke_width((2.0 * pen.width).round() as u32);
    canvas
        .draw_series(LineSeries::new(thin(points), style))
        .expect(INVARIANT);
}

/// Fills the area between a line and zero.
pub(in crate::render) fn area(
    canvas: &mut Canvas<'_>,
    points: &[(f64, f64)],
    colour: RGBColor,
    opacity: f64,
) {
    canvas
        .draw_series(AreaSeries::new(thin(points), 0.0, colour.mix(opacity)))
        .expect(INVARIANT);
}

/// Fills a part of the plot over its whole height, behind what is drawn later.
pub(in crate::render) fn band(canvas: &mut Canvas<'_>, from: f64, to: f64) {
    shade(canvas, from, to, BAND, 1.0);
}

/// Fills a part of the plot over its whole height with a colour, behind what is drawn later.
pub(in crate::render) fn shade(
    canvas: &mut Canvas<'_>,
    from: f64,
    to: f64,
    colour: RGBColor,
    opacity: f64,
) {
    let range = canvas.x_range();
    let (from, to) = (from.max(range.start), to.min(range.end));
    let height = canvas.y_range();
    let corners = [(from, height.start), (to, height.end)];
    canvas
        .draw_series([Rectangle::new(corners, colour.mix(opacity).filled())])
        .expect(INVARIANT);
}

/// Fills the rectangle between two corners.
pub(in crate::render) fn cell(
    canvas: &mut Canvas<'_>,
    corner: (f64, f64),
    opposite: (f64, f64),
    colour: RGBColor,
    opacity: f64,
) {
    let style = colour.mix(opacity).filled();
    canvas
        .draw_series([Rectangle::new([corner, opposite], style)])
        .expect(INVARIANT);
}

/// Draws a dot of this radius as shown.
pub(in crate::render) fn dot(
    canvas: &mut Canvas<'_>,
    at: (f64, f64),
    radius: i32,
    colour: RGBColor,
    opacity: f64,
) {
    let style = colour.mix(opacity).filled();
    canvas
        .draw_series([Circle::new(at, 2 * radius, style)])
        .expect(INVARIANT);
}

/// Fills the area between two lines.
pub(in crate::render) fn between(
    canvas: &mut Canvas<'_>,
    below: &[(f64, f64)],
    above: &[(f64, f64)],
    colour: RGBColor,
    opacity: f64,
) {
    let corners: Vec<(f64, f64)> = above.iter().chain(below.iter().rev()).copied().collect();
    canvas
        .draw_series([Polygon::new(corners, colour.mix(opacity).filled())])
        .expect(INVARIANT);
}

/// Draws dots of one size, each cell of a few pixels once however many lie in it: their number is bounded by the plot's area.
pub(in crate::render) fn dots(canvas: &mut Canvas<'_>, points: &[(RGBColor, f64, f64)]) {
    let mut taken = BTreeSet::new();
    for (colour, x, y) in points {
        let (column, row) = canvas.backend_coord(&(*x, *y));
        let RGBColor(red, green, blue) = *colour;
        if taken.insert((red, green, blue, column / CELL, row / CELL)) {
            dot(canvas, (*x, *y), 3, *colour, 0.55);
        }
    }
}

/// At most [`MOST_POINTS`] points: of each stretch the highest, so that no peak is lost.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(MOST_POINTS).max(1);
    let highest = |part: &[(f64, f64)]| part.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(stretch).filter_map(highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks() {
        let mut points: Vec<(f64, f64)> = (0..5_000).map(|x| (f64::from(x), 1.0)).collect();
        points[1_234].1 = 9.0;
        let thinned = thin(&points);
        assert!(thinned.len() <= MOST_POINTS);
        assert!(thinned.contains(&(1_234.0, 9.0)));
        assert_eq!(thin(&points[..3]), points[..3]);
    }
}
