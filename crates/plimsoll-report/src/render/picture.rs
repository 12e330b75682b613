//! A picture that stands alone: curves over a logarithmic axis as an SVG file, for documents that show figures of several runs. It is drawn
//! like the charts of the page and has a background of its own, so that it is readable wherever it is put.

use super::html::axis::Axis;
use super::html::plot::{Pen, Plot, dot, line};
use super::html::style::{LABEL, colour, hex};
use super::words::number;
use maud::{Markup, html};

/// Width and height of the plot, as shown.
const SIZE: (u32, u32) = (760, 300);
/// Room for the labels of the vertical axis.
const LEFT: u32 = 50;
/// Height of what stands above the plot: the title, then a line with the curves' names.
const ABOVE: u32 = 58;
/// Height of what stands below it: the name of the horizontal axis.
const BELOW: u32 = 24;
/// Room beyond the first and the last point, as a factor.
const BEYOND: f64 = 1.25;

/// A curve with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// Its points by ascending, positive `x`.
    pub points: Vec<(f64, f64)>,
}

/// Curves over one another, with what their axes mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The title.
    pub title: String,
    /// The name of the horizontal axis, which is logarithmic and has a tick at every point.
    pub x: String,
    /// The name of the vertical axis, which begins at zero.
    pub y: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Picture {
    /// The SVG file; `None` where no curve has a point.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let mut ticks: Vec<f64> = points().map(|point| point.0).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let (first, last) = (ticks.first()?, ticks.last()?);
        let top = points().map(|point| point.1).fold(0.0, f64::max);
        let plot = Plot {
            size: SIZE,
            title: self.title.clone(),
            description: format!("{} over {}.", self.y, self.x),
            left: LEFT,
            x: Axis {
                ticks: ticks.iter().map(|tick| tick.log10()).collect(),
                ..Axis::logarithmic(first / BEYOND, last * BEYOND, count)
            },
            y: Axis::linear(0.0, top * 1.1, 5, |value| format!("{value}")),
        };
        let chart = plot.draw(|canvas| {
            for (index, curve) in self.curves.iter().enumerate() {
                let logarithmic = curve.points.iter().map(|(x, y)| (x.log10(), *y));
                let points: Vec<(f64, f64)> = logarithmic.collect();
                let pen = Pen {
                    colour: colour(index),
                    width: 2.0,
                    opacity: 1.0,
                };
                line(canvas, &points, pen);
                for point in points {
                    dot(canvas, point, 3, pen.colour, 1.0);
                }
            }
        });
        let file = self.framed(&chart).into_string();
        Some(format!("{file}\n"))
    }

    /// The chart with title, legend and names of the axes around it.
    fn framed(&self, chart: &Markup) -> Markup {
        let (width, height) = SIZE;
        let whole = ABOVE + height + BELOW;
        let label = hex(LABEL);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(whole) viewBox=(format!("0 0 {width} {whole}")) font-family="sans-serif" {
                rect width=(width) height=(whole) fill="#FFFFFF" {}
                text x="12" y="22" font-size="15" font-weight="bold" { (self.title) }
                (self.legend())
                text x=(width - 18) y="46" font-size="12" text-anchor="end" fill=(label) { (self.y) }
                svg y=(ABOVE) width=(width) height=(height) { (chart) }
                text x=(width / 2) y=(whole - 8) font-size="12" text-anchor="middle" fill=(label) { (self.x) }
            }
        }
    }

    /// The names of the curves in their colours, one beside the other.
    fn legend(&self) -> Markup {
        html! {
            text x="12" y="46" font-size="13" {
                @for (index, curve) in self.curves.iter().enumerate() {
                    tspan fill=(hex(colour(index))) dx=[(index > 0).then_some(16)] { "● " (curve.name) }
                }
            }
        }
    }
}

/// A number of things on a logarithmic axis.
fn count(exponent: f64) -> String {
    number(Some(10_f64.powf(exponent).round()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(curves: Vec<Curve>) -> Picture {
        Picture {
            title: "Cost <by> connections".to_owned(),
            x: "connections".to_owned(),
            y: "CPU µs per request".to_owned(),
            curves,
        }
    }

    #[test]
    fn a_picture_is_a_whole_file_with_a_name_for_every_curve() {
        let curve = |name: &str, points: &[(f64, f64)]| Curve {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        let ours = curve("ours", &[(50.0, 8.0), (1_000.0, 9.0), (10_000.0, 11.5)]);
        let svg = picture(vec![ours, curve("peer & co", &[(50.0, 9.0)])]).svg();
        let svg = svg.unwrap();
        for expected in [
            "xmlns=\"http://www.w3.org/2000/svg\"",
            "fill=\"#FFFFFF\"",
            "Cost &lt;by&gt; connections",
            "ours",
            "peer &amp; co",
            "1,000",
            "10,000",
        ] {
            assert!(svg.contains(expected), "{expected}: {svg}");
        }
    }

    #[test]
    fn nothing_is_no_picture() {
        assert_eq!(picture(Vec::new()).svg(), None);
    }

    #[test]
    fn counts_have_a_comma() {
        assert_eq!(count(50_f64.log10()), "50");
        assert_eq!(count(5_000_f64.log10()), "5,000");
    }
}
