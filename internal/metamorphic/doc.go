// Package metamorphic plays one stream of operations on worlds with different configurations: storages of
// columns, kinds of pages, numbers of workers, ways to empty and trim. The visible results must be the same.
// There is no model: the worlds check each other. A stream on which the worlds differ is shrunk and printed
// as a Go test.
//
// The compared results contain no slots and generations, which may differ. A key identifies an entity: a
// number in one of its columns. Results with a promised order are compared in that order: the children in a
// hierarchy, and the hook calls of single changes. Entities that are promised in the order of slots must come
// in that order; they are compared as sets.
//
// The package is for tests only.
package metamorphic
