package shell

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// completer completes words at the prompt, such as keywords, names of tables and columns, and commands. It
// implements readline.AutoCompleter.
type completer struct {
	ctx    context.Context
	load   func(context.Context) (schema, error)
	before func() string // returns the lines of the statement before the current line
	names  schema
	loaded bool // whether names is up to date
}

// completionTime bounds the time for which the Tab key may wait for the database.
const completionTime = 2 * time.Second

// forget makes the next completion read the names of the database again.
func (c *completer) forget() { c.loaded = false }

// Do returns the ends of all words that begin like the word before the position pos of line, and the length
// of this beginning.
func (c *completer) Do(line []rune, pos int) (ends [][]rune, length int) {
	if !c.loaded {
		ctx, cancel := context.WithTimeout(c.ctx, completionTime)
		defer cancel()
		// After an error, names may be incomplete. The next Tab tries again.
		var err error
		c.names, err = c.load(ctx)
		c.loaded = err == nil
	}
	text, after := string(line[:pos]), string(line[pos:])
	start, candidates := c.candidates(text, after)
	beginning := text[start:]
	for _, candidate := range candidates {
		if end, ok := endOf(candidate, beginning); ok {
			ends = append(ends, []rune(end))
		}
	}
	return ends, utf8.RuneCountInString(beginning)
}

// endOf returns the rest of candidate after prefix. ok is false if candidate does not begin with prefix. The
// case of letters does not count.
func endOf(candidate, prefix string) (end string, ok bool) {
	n := len(prefix)
	if n > len(candidate) || !utf8.ValidString(candidate[:n]) ||
		!strings.EqualFold(candidate[:n], prefix) {
		return "", false
	}
	return candidate[n:], true
}

// candidates returns where the last word of text starts, and the words that may stand there. after is the
// rest of the line.
func (c *completer) candidates(text, after string) (start int, words []string) {
	start = len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !inWord(r) {
			break
		}
		start -= size
	}
	open := strings.Count(text, `"`)%2 == 1 // the word is a quoted name
	if open {
		start = strings.LastIndexByte(text, '"')
	}
	beginning, head := text[start:], strings.TrimRight(text[:start], " \t")
	previous := ""
	if found := word.FindAllString(head, -1); len(found) > 0 && strings.HasSuffix(head, found[len(found)-1]) {
		previous = strings.ToLower(found[len(found)-1])
	}
	switch {
	case strings.HasPrefix(text, `\`) && start <= 1:
		return 0, commandNames()
	case strings.HasPrefix(text, `\format`):
		return start, []string{string(Table), string(CSV), string(JSON), string(JSONLines)}
	case strings.HasPrefix(text, `\`):
		return start, quoted(c.names.tables, open)
	case strings.HasSuffix(head, ".") && len(head) == start:
		name := head[:len(head)-1]
		name = name[len(strings.TrimRightFunc(name, inWord)):]
		if columns, ok := c.names.columns[strings.ToLower(name)]; ok {
			return start, quoted(columns, open)
		}
		return start, quoted(c.names.tables, open) // name may be that of a schema
	case slices.Contains([]string{"from", "join", "into", "update", "table"}, previous):
		return start, quoted(c.names.tables, open)
	case beginning == "":
		return start, nil
	}
	words = append(words, c.names.tables...)
	words = append(words, c.names.columnsOf(c.before()+" "+text+" "+after)...)
	words = quoted(words, open)
	if !open {
		// Keywords are in lower case if the typed letters are, and otherwise in upper case.
		change := strings.ToUpper
		if beginning == strings.ToLower(beginning) {
			change = strings.ToLower
		}
		for _, k := range keywords {
			words = append(words, change(k))
		}
	}
	slices.Sort(words)
	return start, slices.Compact(words)
}

// inWord reports whether r can be a part of a name without quotes.
func inWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// quoted returns the names in quotes if open is true. Otherwise, it returns the names as they are, and leaves
// out keywords and names that need quotes. In both cases, it leaves out names that are not safe to show: see
// clean.
func quoted(names []string, open bool) (words []string) {
	for _, name := range names {
		switch {
		case clean(name) != name:
		case open:
			words = append(words, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`)
		case word.FindString(name) == name && !slices.Contains(keywords, strings.ToUpper(name)):
			words = append(words, name)
		}
	}
	return words
}
