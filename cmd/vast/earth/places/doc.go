// Package places holds the inhabited places of the Earth: name, country, position and population of about
// 200,000 towns and villages, embedded in the program. It also reads other lists of places from files.
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
//     List is in this order, so places with close indices lie close together on the Earth, and an index range
//     is a region.
//   - unit of position: 1e-5 degree, at most 1.1 m on the ground. Positions are rounded to this unit when
//     they are read.
//   - packed file: the form that [List.Write] writes, and the form of the embedded list; packed.go describes
//     its layout.
//
// # Accepted files
//
// [Open] and [Read] recognise these forms by their content:
//
//   - a packed file;
//   - rows of the GeoNames "geoname" table, as in cities500.txt and allCountries.txt: 19 columns separated by
//     tabs, no header. Name, latitude, longitude, country code and population are used;
//   - a table with a header line, its columns separated by tabs, semicolons or commas, with "double quotes"
//     around a field where needed. Columns are found by name, in any order and any case. Name (or city,
//     place), lat (latitude) and lon (lng, long, longitude) are required; country (country_code, iso2) and
//     population (pop) are optional; other columns are skipped;
//   - any of these compressed by gzip.
//
// Blank lines and lines that start with '#' are skipped. A malformed row is an error: a list is loaded whole
// or not at all.
//
// # Population
//
// A population of 0 is kept as 0. In GeoNames 0 means "not known". The population of 30,538 embedded places
// is not known; nearly all of these are seats of small administrations. A program that draws places by
// population would never draw a place with a population of 0, so it should count such a place as a small one,
// for example of 100 people.
//
// Sections of cities are places too. Their inhabitants are also counted in the population of the city, so the
// sum of all populations exceeds the number of people.
//
// # Lifetime
//
// A List is ordinary Go memory, about 6 MB for the embedded list. The garbage collector frees a List that is
// no longer used. The packed bytes are part of the executable and take no space in the Go heap. Names are
// substrings of one string, so a Name in use keeps the memory of all names: use strings.Clone for names that
// outlive the List.
//
// # Source
//
// GeoNames, https://www.geonames.org, cities500, licensed under CC BY 4.0. See ATTRIBUTION.md next to this
// file. Programs that show the places print [Attribution].
package places
