// Package atlas draws a map of the world into the cells of a terminal: the
// coasts, and how many people are where and how many of them are ill. It knows
// nothing of terminals: it gives a grid of glyphs and colours that a terminal
// library paints, or that [WriteSVG] makes a picture of.
//
// # Types
//
//   - [Map] is the projection and the land for one size. For another size make
//     another Map.
//   - [Style] is how a frame is painted; its zero value works.
//   - [Grid], [Cell] and [RGB] are a painted frame. Text can be printed into it.
//
// # Terminology
//
//   - cell: one character of a terminal, taken to be twice as high as wide.
//   - dot: one of the 2×4 dots of a braille glyph, nearly square. People are
//     counted by dot, in slices indexed by its number; [Map.Dot] and
//     [Map.DotXYZ] tell the number for a position.
//   - window: the part of the Earth that is shown, all longitudes and the
//     latitudes from [MinLat] to [MaxLat].
//   - level: the brightness of a count, on a scale of doublings: nine below
//     the brightest.
//
// # How a frame is read
//
// Dots show where people are. The colour of a cell's dots shows how many, from
// blue to white; where people are ill it turns to red, from dark to bright. Coasts are drawn
// dim where nobody stands on them, and land has a lighter ground than the sea. Without
// colours, the share of dots set shows the density.
//
// The projection is equirectangular. The window fills the cells it is
// given as long as that keeps the shapes bearable, else it is centred.
//
// # Lifetime
//
// The cells that [Map.Draw] returns belong to the Map until the next Draw. A
// Map takes 4 bytes a dot, 160 KB for 120×40 cells.
//
// # Source
//
// Natural Earth, https://www.naturalearthdata.com, land at 1:110 million, in the
// public domain. See ATTRIBUTION.md beside this file. The command in pack makes
// land.bin.
package atlas
