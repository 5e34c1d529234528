package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
)

// Completion lists how a text may continue. Each item may replace the characters [From, To).
type Completion struct {
	From, To int // indexes of runes
	Items    []Item

	prefix string // text in front of the cursor that each item must match
	names  bool   // result of WantsNames
	quoted bool   // whether the name of an entity must be in quotes
}

// Item is a suggestion.
type Item struct {
	Text   string `json:"text"`
	Detail string `json:"detail"`
	Kind   string `json:"kind"` // component, relation, name, field, operator or keyword

	rank int // position among the items; lower ranks come first
}

const maxItems = 50

// stage tells what may follow in a text.
type stage uint8

const (
	stageTerm   stage = iota // a term
	stageAtom                // the name of a component, after !, ? or |
	stageNamed               // a bracket, path, operator or separator, after the name of a component
	stageTarget              // a target in the brackets of a relation
	stageClose               // the closing bracket of a relation
	stageField               // a path
	stageOp                  // an operator, after a path
	stageValue               // the value of a comparison
	stageEnd                 // a separator of terms
)

// completer parses a text up to the cursor.
type completer struct {
	lexer
	schema *Schema
	stage  stage
	called string  // name of the last component
	column *Column // column of the last component; nil if the name is unknown or ambiguous
	known  bool    // whether the name is known
	join   bool    // whether the brackets after where or up are open, or will be
	path   int     // index of the path's first rune
	op     string  // last operator
}

// Complete returns how the text may continue at the cursor. The cursor is the index of a rune, and is clamped
// to the text. If [Completion.WantsNames] returns true, call [Completion.AddNames] to add names of entities.
func Complete(text string, cursor int, s *Schema) *Completion {
	all := []rune(text)
	cursor = max(0, min(cursor, len(all)))
	c := &Completion{From: cursor, To: cursor}
	if len(text) > maxText {
		return c
	}
	k := completer{lexer: lexer{text: all[:cursor]}, schema: s}
	open := k.follow()
	c.From = open.Position
	c.prefix = string(all[c.From:cursor])
	c.To = k.endOf(all, cursor, strings.HasPrefix(c.prefix, `"`))
	switch k.stage {
	case stageTerm, stageAtom:
		c.addComponents(&k)
		if k.stage == stageTerm {
			c.add("not", "exclude", "keyword", 20)
			c.add("where", "the target has", "keyword", 21)
			c.add("up", "an ancestor has", "keyword", 22)
		}
	case stageNamed:
		c.addAfterName(&k)
	case stageTarget:
		c.names = true
		c.add("*", "any target", "operator", 5)
	case stageClose:
		c.add(")", "", "operator", 0)
	case stageField:
		c.From = k.path
		c.prefix = string(all[c.From:cursor])
		c.addFields(&k)
	case stageOp:
		c.addOperators(&k)
	case stageValue:
		c.addValues(&k)
	case stageEnd:
		c.addBetween()
	}
	c.finish()
	return c
}

// follow reads the tokens before the cursor. It returns the unfinished token that ends at the cursor, or an
// empty token if there is none.
func (k *completer) follow() token {
	for {
		k.space()
		start := k.at
		if k.stage == stageTarget && k.peek(0) != '"' && k.peek(0) != '*' {
			name := k.name()
			if k.at == len(k.text) {
				return name
			}
			if name.text == "" {
				k.at++ // skip a character that names cannot have
			}
			k.stage = stageClose
			if k.text[k.at-1] == ')' {
				k.stage = stageEnd
			}
			continue
		}
		t, err := k.next()
		if err != nil {
			return token{sort: sortQuoted, Span: Span{start, len(k.text) - start}}
		}
		touched := k.at == len(k.text)
		switch {
		case t.sort == sortEnd:
			return t
		case touched && (t.sort == sortWord || t.sort == sortNumber):
			return t
		}
		k.pass(t)
	}
}

// pass updates k after a complete token.
func (k *completer) pass(t token) {
	switch {
	case k.join && t.is(",", "and", "!", "not", "("):
		k.stage = stageAtom
	case k.join && k.stage == stageAtom && !t.is(")"):
		k.stage = stageClose
	case k.stage == stageNamed && slices.Contains(joins, k.called) && !k.join &&
		(t.sort == sortWord || t.sort == sortQuoted):
		k.join = true
	case t.is(",", "and"):
		k.stage = stageTerm
	case t.is("!", "not", "?", "|", "or"):
		k.stage = stageAtom
	case k.stage <= stageAtom && (t.sort == sortWord || t.sort == sortQuoted):
		k.stage, k.called = stageNamed, t.text
		k.column, k.known, _ = k.schema.find(t.text, "", t.Span)
	case t.sort == sortColumn && k.stage == stageNamed:
		k.column, k.known, _ = k.schema.find(k.called, t.text, t.Span)
	case t.is("(") && k.stage == stageNamed:
		k.stage = stageTarget
	case t.is(")"):
		k.stage, k.join = stageEnd, false
	case k.stage == stageTarget:
		k.stage = stageClose
	case t.is(operators...) && (k.stage == stageNamed || k.stage == stageField || k.stage == stageOp):
		if k.stage == stageNamed {
			k.path = t.Position
		}
		k.stage, k.op = stageValue, t.text
	case t.is(".") && k.stage == stageNamed:
		k.stage, k.path = stageField, k.at
	case t.is(".", "[", "]") && (k.stage == stageField || k.stage == stageOp):
		k.stage = stageField
	case k.stage == stageField:
		k.stage = stageOp
	case k.stage == stageValue:
		k.stage = stageEnd
	}
	if k.stage == stageField && k.at < len(k.text) && (k.peek(0) == ' ') {
		k.stage = stageOp
	}
}

// endOf returns the end of the word at the cursor.
func (k *completer) endOf(all []rune, cursor int, quoted bool) int {
	end := cursor
	if k.stage == stageTarget || quoted {
		for end < len(all) && !strings.ContainsRune(notInNames, all[end]) {
			end++
		}
		if quoted && end < len(all) && all[end] == '"' {
			end++
		}
	} else {
		for end < len(all) && isPart(all[end]) && k.stage != stageClose && k.stage != stageEnd {
			end++
		}
	}
	// The word includes the number after the name of a component, such as #7.
	if k.stage <= stageAtom && end+1 < len(all) && all[end] == '#' && isDigit(all[end+1]) {
		for end++; end < len(all) && isDigit(all[end]); end++ {
		}
	}
	return end
}

// add adds an item if the text matches the prefix.
func (c *Completion) add(text, detail, kind string, rank int) {
	plain := strings.Trim(text, `"`)
	prefix := strings.TrimPrefix(c.prefix, `"`)
	low, part := strings.ToLower(plain), strings.ToLower(prefix)
	switch {
	case strings.HasPrefix(plain, prefix):
	case strings.HasPrefix(low, part):
		rank += 100
	case strings.Contains(low, part):
		rank += 200
	case isSubsequence(part, low):
		rank += 300
	default:
		return
	}
	c.Items = append(c.Items, Item{text, detail, kind, rank})
}

// isSubsequence reports whether a text contains all letters of part in their order.
func isSubsequence(part, text string) bool {
	rest := []rune(part)
	for _, r := range text {
		if len(rest) > 0 && rest[0] == r {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// finish sorts the items by rank and drops the items beyond maxItems.
func (c *Completion) finish() {
	slices.SortStableFunc(c.Items, func(a, b Item) int { return cmp.Compare(a.rank, b.rank) })
	if len(c.Items) > maxItems {
		c.Items = c.Items[:maxItems]
	}
}

func (c *Completion) addComponents(k *completer) {
	named := false
	for i := range k.schema.Columns {
		col := &k.schema.Columns[i]
		named = named || col.Name() == nameOfEntities
		kind, rank := "component", 0
		if col.Relation {
			kind = "relation"
		}
		if col.Private {
			rank = 50
		}
		c.add(col.Text(), col.detail(), kind, rank)
		if col.Name() != c.prefix {
			continue
		}
		if col.Relation {
			c.add(col.Text()+"(", "has the target", "relation", 1)
		}
		for j := range col.Values {
			if p := &col.Values[j]; p.Kind != KindOther && p.Path != "" && j < maxItems {
				c.add(col.Text()+dotted(p.Path), p.Type.String(), "field", 1)
			}
		}
	}
	if !named {
		c.add(nameOfEntities, "name of the entity", "component", 1)
	}
}

// addRelations adds the relations that may follow where or up.
func (c *Completion) addRelations(k *completer) {
	for i := range k.schema.Columns {
		if col := &k.schema.Columns[i]; col.Relation {
			c.add(col.Text()+"(", "has", "relation", 0)
		}
	}
}

func (c *Column) detail() string {
	switch {
	case c.Relation:
		return "relation"
	case c.Linked && c.Private:
		return "is a target"
	case c.Linked:
		return "edges"
	case c.Type == nil:
		return "tag"
	}
	return c.Type.String()
}

func (c *Completion) addAfterName(k *completer) {
	switch col := k.column; {
	case k.join:
		c.add("(", "has", "operator", 0)
		return
	case slices.Contains(joins, k.called):
		c.addRelations(k)
	case !k.known && strings.EqualFold(k.called, nameOfEntities):
		c.addOperatorsOf(KindString)
	case col == nil:
	case col.Relation:
		c.add("(", "has the target", "operator", 0)
	case len(col.Values) == 1 && col.Values[0].Path == "":
		c.addOperatorsOf(col.Values[0].Kind)
	case len(col.Values) > 0 && len(col.Values[0].Path) > 0 && col.Values[0].Path[0] != '[':
		c.add(".", "field", "operator", 0)
	}
	c.addBetween()
}

func (c *Completion) addBetween() {
	c.add(",", "and", "operator", 10)
	c.add("|", "or", "operator", 11)
	c.add("and", "", "keyword", 12)
	c.add("or", "", "keyword", 13)
}

func (c *Completion) addFields(k *completer) {
	if k.column == nil {
		return
	}
	for i := range k.column.Values {
		if p := &k.column.Values[i]; p.Kind != KindOther && p.Path != "" {
			c.add(p.Path, p.Type.String(), "field", 0)
		}
	}
}

// part returns the part of the component that the query compares, or nil if the part is unknown.
func (k *completer) part() *Part {
	if k.column == nil {
		if !k.known && strings.EqualFold(k.called, nameOfEntities) {
			return &Part{Kind: KindString}
		}
		return nil
	}
	// The value 0 is a placeholder.
	q, err := Parse(quoteName(k.called) + k.pathText() + " == 0")
	if err != nil || len(q.Terms) != 1 {
		return nil
	}
	p, err := k.column.value(q.Terms[0].Either[0].Fields, Span{})
	if err != nil {
		return nil
	}
	return p
}

// pathText returns the path up to a space or an operator.
func (k *completer) pathText() string {
	end := k.path
	for end < len(k.text) && (isPart(k.text[end]) || strings.ContainsRune(".[]", k.text[end])) {
		end++
	}
	if end == k.path {
		return ""
	}
	return "." + string(k.text[k.path:end])
}

func (c *Completion) addOperators(k *completer) {
	if p := k.part(); p != nil {
		c.addOperatorsOf(p.Kind)
	}
}

func (c *Completion) addOperatorsOf(kind Kind) {
	for i, op := range operators {
		orders, contains := op[0] == '<' || op[0] == '>', op[len(op)-1] == '~'
		if kind == KindOther || orders && (kind == KindBool || kind == KindEntity) || contains &&
			kind != KindString {
			continue
		}
		c.add(op, operatorDetails[op], "operator", i)
	}
}

var operatorDetails = map[string]string{
	"==": "equal", "!=": "not equal", "<": "less", "<=": "less or equal", ">": "more", ">=": "more or equal",
	"~": "contains", "!~": "does not contain",
}

func (c *Completion) addValues(k *completer) {
	p := k.part()
	if p == nil {
		return
	}
	switch p.Kind {
	case KindBool:
		c.add("true", "", "keyword", 0)
		c.add("false", "", "keyword", 1)
	case KindEnum:
		names, _ := enumNames(p.Type)
		for i, name := range names {
			if i < maxEnum/4 {
				c.add(quoteName(name), p.Type.String(), "name", min(i, 90))
			}
		}
	case KindEntity:
		c.names = true
	case KindString:
		c.names = strings.EqualFold(k.called, nameOfEntities) && k.op != "~" && k.op != "!~"
		c.quoted = true
	}
}

// WantsNames reports whether the name of an entity may follow, and returns the prefix of the name in the
// text.
func (c *Completion) WantsNames() (prefix string, ok bool) {
	return strings.TrimPrefix(c.prefix, `"`), c.names
}

// AddNames adds items for the names of entities. The list must begin with the most important name.
func (c *Completion) AddNames(list []Suggestion) {
	for i, s := range list {
		text := quoteTarget(s.Name)
		if c.quoted {
			text = strconv.Quote(s.Name)
		}
		detail := s.Detail
		if detail == "" && s.Entity != (vast.Entity{}) {
			detail = s.Entity.String()
		}
		c.Items = append(c.Items, Item{text, detail, "name", 10 + i})
	}
	c.finish()
}
