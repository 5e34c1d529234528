// Package atlas draws a map of the world into the cells of a terminal: the coasts, the density of people, and
// the share of people who are ill. It makes a grid of glyphs and colours, which any terminal library can
// paint. [WriteSVG] turns the grid into a picture.
//
// # Types
//
//   - [Map] is the projection and the land for one size. For another size make another Map.
//   - [Style] says how a frame is painted; its zero value works.
//   - [Grid], [Cell] and [RGB] are a painted frame. [Grid.Print] adds text to it.
//
// # Terminology
//
//   - cell: one character of a terminal, assumed to be twice as high as wide.
//   - dot: one of the 2×4 dots of a braille glyph, nearly square. People are counted by dot, in slices
//     indexed by the dot's number; [Map.Dot] and [Map.DotXYZ] return the number for a position.
//   - window: the visible part of the Earth: all longitudes, and the latitudes from [MinLat] to [MaxLat].
//   - level: the brightness of a count, on a logarithmic scale that spans nine doublings.
//
// # How to read a frame
//
// Dots show where people are. The colour of a cell's dots shows the number of people, from blue to white. A
// larger share of ill people makes the colour more red. Coasts without people are dim, and land has a lighter
// background than the sea. Without colours, denser regions have more dots.
//
// The projection is equirectangular. The window fills all cells if the map is 1.6 to 2.8 times as wide as
// high, in dots. Otherwise the window has the nearer of these two ratios and is centred in the map.
//
// # Lifetime
//
// The cells that [Map.Draw] returns belong to the Map, and the next Draw overwrites them. A Map takes about 4
// bytes a dot, 150 KB for 120×40 cells.
//
// # Source
//
// Natural Earth, https://www.naturalearthdata.com, land at 1:110 million, in the public domain. See
// ATTRIBUTION.md next to this file. The command in the folder pack makes land.bin.
package atlas
