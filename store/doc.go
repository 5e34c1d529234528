// Package store keeps worlds outside of their process.
//
// [Save] writes a world to a file or any other stream, and [Load] reads it back: entities with their
// generations, components of every storage, relations, edges, names, and the notes of trackers. A
// [vast.Entity] that a program has kept outside of the world refers to the same entity after Load. A loaded
// world continues as the saved world would: new entities get the same slots, and queries visit entities in
// the same order.
//
// Options.Resources and Options.Containers name what is saved and loaded together with the world: resources,
// containers of package bulk, queues of package event, and the jobs in flight of a schedule.
//
// A [Store] keeps a world in a folder. [Open] reads the world, and the store takes checkpoints between ticks.
// A journal holds the inputs of the program. After a crash, [Store.Recover] applies these inputs again and
// repeats the ticks since the last checkpoint. docs/guide/survive.md is the introduction.
//
// [OpenAt] reads the world of an earlier tick. Tools read files without the program that wrote them:
// [LoadAny] reads a saved world, and [LoadMoment] reads a checkpoint. LoadMoment maps long runs of elements
// instead of reading them, if the system can map them. [Files] lists the files of a folder, [Verify] checks
// them, and [Compact] removes all checkpoints except the newest.
//
// The file describes each component type by the names, kinds and sizes of its fields. So the file can also be
// read by a program whose types have changed, and by a program for another processor: see [Load].
//
// [WriteJSON] writes a world as a document that people can read and edit. [WriteJSONOf] writes only the
// entities of a query. [ReadJSON] adds the entities of a document to a world as new entities.
//
// A [Packer] moves entities, with everything that belongs to them, to another world as a parcel of bytes. The
// other world may be another region of a cluster. [Compare] finds the first difference between a world and a
// saved world.
//
// docs/store-format.md describes the file, the folder, the document and the parcel.
package store
