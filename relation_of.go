package vast

// RelationOf returns the relation that a column belongs to as that of the entities that have a target, such as one of
// [World.Columns], and whether it is one.
func RelationOf(col AnyColumn) (r Relation, ok bool) {
	if s, is := columnOf("RelationOf", col).store.(*sourceStore); is {
		return Relation{(*relation)(s)}, true
	}
	return Relation{}, false
}
