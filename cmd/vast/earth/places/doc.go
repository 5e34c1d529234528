// Package places embeds a list of about 200,000 towns and villages of the Earth, with their names, countries,
// positions and populations. It also reads other lists of places from files.
//
// # Types
//
//   - [List] is a loaded, immutable list of places, kept column by column.
//   - [Place] is a copy of one row of a List.
//   - [Options] holds the callback that reports the progress of loading.
//   - [Error] is the error of every loading function: file, line and reason.
//
// # Terminology
//
//   - Hilbert order: the order in which a Hilbert curve over longitude and latitude visits the places. Every
//     List is in this order, so places with close indices lie close together on the Earth.
//   - unit of position: 1e-5 degree, at most 1.1 m on the ground. Every reading function rounds positions to
//     this unit.
//   - packed file: a file that [List.Write] writes; packed.go describes the layout. The embedded list is a
//     packed file.
//
// # Accepted files
//
// [Open] and [Read] recognise these forms by their content:
//
//   - a packed file;
//   - rows of the GeoNames "geoname" table, as in cities500.txt and allCountries.txt: 19 columns separated by
//     tabs, no header. Name, latitude, longitude, country code and population are used;
//   - a table with a header line. Tabs, semicolons or commas separate the columns, and a field may be in
//     "double quotes". The header names the columns, in any order and any case. Name (or city, place), lat
//     (latitude) and lon (lng, long, longitude) are required; country (country_code, iso2) and population
//     (pop) are optional; other columns are skipped;
//   - any of these forms, compressed by gzip.
//
// Blank lines and lines that start with '#' are skipped. A malformed row is an error: a list is loaded whole
// or not at all.
//
// # Population
//
// A population of 0 means "not known", as in GeoNames. The population of 30,538 embedded places is not known;
// nearly all of these are seats of small administrations. A program that chooses random places in proportion
// to their populations should replace 0 by a small number, for example 100. Otherwise it never chooses these
// places.
//
// Sections of cities are places, too. The population of a city includes its sections, so the sum of all
// populations exceeds the number of people.
//
// # Lifetime
//
// A List is ordinary Go memory, about 6 MB for the embedded list. The packed bytes are part of the executable
// and take no space in the Go heap. Names are substrings of one string, so a reference to one name keeps the
// memory of all names: use strings.Clone for names that outlive the List.
//
// # Source
//
// GeoNames, https://www.geonames.org, cities500, licensed under CC BY 4.0: see ATTRIBUTION.md. Programs that
// show the embedded places must show [Attribution].
package places
