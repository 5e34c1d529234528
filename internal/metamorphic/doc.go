// Package metamorphic plays one stream of operations on worlds that are made differently (with other storages of columns, other
// pages, other numbers of workers, emptied and trimmed in other ways) and compares what can be seen of them, which must be the
// same. There is no model: the worlds check each other. A stream on which they differ is shrunk and printed as a Go test.
//
// What is compared is free of slots and generations, which may differ: an entity is known by its key, a number in one of its
// columns. What the library promises an order of is compared in that order (the parts of a whole, what hooks are told
// of one by one); what goes by slots is checked to ascend, and compared as a set.
//
// It is for tests only.
package metamorphic
