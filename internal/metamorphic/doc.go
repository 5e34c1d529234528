// Package metamorphic plays one stream of operations on worlds with different configurations: storages of
// columns, kinds of pages, numbers of workers, ways to empty and trim, with and without groups, moves of
// entities, room made ahead, and callbacks that call the world. All worlds must have the same visible
// results. There is no model: the worlds check each other. If the results differ, the package shrinks the
// stream and prints the stream as a Go test.
//
// Worlds may differ in slots and generations. Therefore results identify an entity by its key, a number in
// one of its columns. Two orders are promised and compared: the order of the children in a hierarchy, and the
// order of the hook calls of a single change. Results in the order of slots are compared as sets of entities,
// and each world checks that the slots ascend.
//
// The package is for tests only.
package metamorphic
