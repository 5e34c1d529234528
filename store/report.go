package store

// Report lists the changes that functions such as [Load] and [ReadJSON] made because the program's components
// differ from those of the file. Each entry begins with a path, such as Position.Z for a field and Position
// for a column. A Report without entries means that nothing had to be changed.
type Report struct {
	// Dropped are the columns, fields, resources and containers of the file that the program lacks. Their
	// values are lost.
	Dropped []string
	// Added are the columns, fields, resources and containers of the program that the file lacks. An added
	// field is zero, or has its safe value in a bulk.Table: see bulk.Field.Safe. An added resource keeps the
	// program's value. Added columns and containers have no elements.
	Added []string
	// Converted are the fields whose type has changed, with both types: "Age.Days from int16 to int32".
	Converted []string
}
