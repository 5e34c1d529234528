// Package store keeps worlds outside of their process.
//
// [Save] writes a world to a file or any other stream, and [Load] reads it back: entities with their
// generations, components of every storage, relations, edges, names, and the notes of trackers. A
// [vast.Entity] that a program has kept outside of the world refers to the same entity after Load. A loaded
// world continues as the saved one would: the next entities are born in the same slots, and queries and loops
// go in the same order.
//
// Options.Containers names containers of package bulk that are saved and loaded together with the world.
//
// A [Store] keeps a world in a folder. [Open] reads the world, and the store takes checkpoints between ticks.
// A journal holds the inputs from outside, so that after a crash [Store.Recover] repeats the ticks since the
// last checkpoint. docs/guide/survive.md is the introduction.
//
// [OpenAt] reads the world of an earlier tick. [LoadAny] and [LoadMoment] read a saved world or a checkpoint
// without the program that wrote it, for tools. LoadMoment does not read elements that the system can map.
// [Files] lists the files of a folder, [Verify] checks them, and [Compact] removes all checkpoints but the
// newest.
//
// The file describes each component type by the names, kinds and sizes of its fields. So a program whose
// types have changed since, and a program for another processor, can read the file too: see [Load].
//
// [WriteJSON] writes a world, and [WriteJSONOf] the entities of a query, as a document that people read and
// edit. [ReadJSON] adds the entities of a document to a world as new entities.
//
// A [Packer] moves entities with all that belongs to them to another world, such as that of another region of
// a cluster, as a parcel of bytes. [Compare] finds the first difference between a world and a saved one.
//
// docs/store-format.md describes the file, the folder, the document and the parcel.
package store
