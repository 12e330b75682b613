//! Colours, and the style sheet that gives them their values in light and dark.
//!
//! Charts are drawn in the light colours; the sheet maps each of these, as an attribute of the SVG, to a variable that has
//! another value in the dark. So a chart is right even where the sheet is not applied.

use plotters::style::RGBColor;

/// The colours of series, in order; each is a variable `--s0` … of the sheet.
const SERIES: [(RGBColor, &str); 6] = [
    (RGBColor(0x2b, 0x6c, 0xb0), "#6fb1f0"),
    (RGBColor(0xc2, 0x5e, 0x12), "#f0a35e"),
    (RGBColor(0x12, 0x80, 0x74), "#4fc9b8"),
    (RGBColor(0x7b, 0x4f, 0xb5), "#bb9af0"),
    (RGBColor(0xb4, 0x32, 0x5f), "#f08bb0"),
    (RGBColor(0x6f, 0x72, 0x1e), "#c9cb6c"),
];

/// Lines of the grid: `--grid`.
pub(super) const GRID: RGBColor = RGBColor(0xe4, 0xe6, 0xea);
/// Axes and the zero line: `--axis`.
pub(super) const AXIS: RGBColor = RGBColor(0x9a, 0xa1, 0xac);
/// Labels of axes: `--muted`.
pub(in crate::render) const LABEL: RGBColor = RGBColor(0x5c, 0x65, 0x73);
/// Colour of failures: `--failed`, whose values the sheet itself has.
pub(super) const FAILED: RGBColor = RGBColor(0xc0, 0x2b, 0x2b);
/// Areas behind the figures (warm-up, margin): `--band`.
pub(super) const BAND: RGBColor = RGBColor(0xee, 0xf0, 0xf3);

const SHEET: &str = include_str!("page.css");

/// The colour of the `index`-th series.
pub(in crate::render) fn colour(index: usize) -> RGBColor {
    SERIES[index % SERIES.len()].0
}

/// The class that gives an element the colour of the `index`-th series.
pub(super) fn class(index: usize) -> String {
    format!("s{}", index % SERIES.len())
}

/// The whole sheet.
pub(super) fn sheet() -> String {
    let mut sheet = SHEET.to_owned();
    let (mut light, mut dark) = (String::new(), String::new());
    for (index, (colour, in_dark)) in SERIES.iter().enumerate() {
        light.push_str(&format!("--s{index}:{};", hex(*colour)));
        dark.push_str(&format!("--s{index}:{in_dark};"));
        sheet.push_str(&format!(".s{index}{{background:var(--s{index})}}\n"));
        sheet.push_str(&mapping(*colour, &format!("s{index}")));
    }
    for (colour, variable) in [
        (GRID, "grid"),
        (AXIS, "axis"),
        (LABEL, "muted"),
        (BAND, "band"),
    ] {
        light.push_str(&format!("--{variable}:{};", hex(colour)));
        sheet.push_str(&mapping(colour, variable));
    }
    sheet.push_str(&mapping(FAILED, "failed"));
    dark.push_str("--grid:#2a303a;--axis:#6b7482;--muted:#a3acba;--band:#222831;");
    format!("{sheet}:root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
}

fn mapping(colour: RGBColor, variable: &str) -> String {
    let hex = hex(colour);
    format!(
        "svg [fill=\"{hex}\"]{{fill:var(--{variable})}}svg [stroke=\"{hex}\"]{{stroke:var(--{variable})}}\n"
    )
}

/// As the drawing library spells it in attributes.
pub(in crate::render) fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
