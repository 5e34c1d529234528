// Package store keeps worlds outside of their process.
//
// [Save] writes a world to a file or any other stream, and [Load] reads it back: entities with their
// generations, components of every storage, relations, edges, names, and what trackers have noted. An
// [vast.Entity] that a program has kept outside of the world refers to the same entity after Load. A loaded
// world goes on as the saved one would have: the next entities are born in the same slots, and queries and
// loops go in the same order.
//
// Containers of package bulk can join a world under a name: see [Options]. They are saved at the same moment.
//
// A [Store] is a folder that keeps a world: [Open] reads it, checkpoints follow between ticks, and a journal
// holds what came from outside, so that after a crash [Store.Recover] repeats the ticks since the last
// checkpoint. docs/guide/survive.md is the introduction.
//
// [OpenAt] reads the world as a store has kept it at an earlier tick. [LoadAny] and [LoadMoment] read a world
// without the program that keeps it, for tools. A moment opens without reading the elements of its columns
// where the system can map them: see [LoadMoment]. [Files], [Verify] and [Compact] care for the folder.
//
// The file describes each component type by the names, kinds and sizes of its fields. So a program whose
// types have changed since, and a program for another processor, reads the file too: see [Load].
//
// [WriteJSON] writes a world, and [WriteJSONOf] the entities of a query, as a document that people read and
// edit. [ReadJSON] adds the entities of a document to a world, as new entities beside those that it has.
//
// docs/store-format.md describes the file, the folder and the document.
package store
