// Package places holds the inhabited places of the Earth: name, country,
// position and population of about 200,000 towns and villages, embedded in the
// program, and reads other lists of places from files.
//
// # Types
//
//   - [List] is a loaded, immutable list of places, kept column by column.
//   - [Place] is one row of it, copied out for convenience.
//   - [Options] holds what a caller may want of loading: progress.
//   - [Error] is what every loading function fails with: file, line and reason.
//
// # Terminology
//
//   - Hilbert order: the order in which a Hilbert curve over longitude and
//     latitude visits the places. Every List is in this order, whatever file it
//     came from, so places with close indices lie close together on the Earth
//     and an index range is a region.
//   - unit of position: 1e-5 degree, at most 1.1 m. Positions are rounded to it
//     when they are read, and never again.
//   - packed file: the form that [List.Write] writes and that is embedded; its
//     layout is told in packed.go.
//
// # What is accepted
//
// [Open] and [Read] recognise, by the first bytes:
//
//   - a packed file;
//   - rows of the GeoNames "geoname" table, as in cities500.txt and
//     allCountries.txt: 19 columns separated by tabs, no header, of which name,
//     latitude, longitude, country code and population are used;
//   - a table with a header line, its columns separated by tabs, semicolons or
//     commas, with "double quotes" around a field where needed. Columns are found by name,
//     in any order and any case: name (or city, place), lat (latitude), lon
//     (lng, long, longitude) are required, country (country_code, iso2) and
//     population (pop) are not; other columns are passed over;
//   - any of these compressed by gzip.
//
// Blank lines and lines that start with '#' are passed over. A row that cannot
// be understood is an error, not a gap: a list is loaded whole or not at all.
//
// # Population
//
// A population of 0 is kept as 0. In GeoNames it means "not known", which is
// so for 30,538 of the embedded places, nearly all of them seats of small
// administrations. A program that draws places by population should count
// these as small places, of 100 people say, or they are never drawn. Sections of cities are places too and are
// counted again in their city, so the sum of all populations is more than
// the number of people.
//
// # Lifetime
//
// A List is ordinary Go memory, about 6 MB for the embedded one, and is freed
// when it is dropped. The packed bytes are part of the executable and take no
// space in the Go heap. Names are substrings of one string: a Name that is kept
// keeps them all; use strings.Clone for the few that outlive the List.
//
// # Source
//
// GeoNames, https://www.geonames.org, cities500, licensed under CC BY 4.0. See
// ATTRIBUTION.md beside this file; programs that show the places print
// [Attribution].
package places
