package shell

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// command is a command of the prompt. Its name begins with a backslash. The error of run is errLeft if the
// user leaves.
type command struct {
	name, argument, about string
	run                   func(p *prompt, ctx context.Context, argument string) error
}

// commands returns the commands in the order of the help.
func commands() []command {
	return []command{
		{`\d`, "[NAME]", "list tables and views, or show the columns of one", (*prompt).describe},
		{`\format`, "[NAME]", "show or set the format: table, csv, json or jsonl", (*prompt).setFormat},
		{`\timing`, "", "show the time of each statement, or stop showing it", (*prompt).toggleTiming},
		{`\?`, "", "show this help", (*prompt).help},
		{`\q`, "", "leave; Ctrl-D does the same", (*prompt).quit},
	}
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// command runs a line that begins with a backslash.
func (p *prompt) command(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(argument), ";"))
	for _, c := range commands() {
		switch {
		case c.name != name:
		case argument != "" && c.argument == "":
			p.message(`%s takes no argument; \? shows the commands`, name)
			return nil
		default:
			return c.run(p, ctx, argument)
		}
	}
	p.message(`there is no command %s; \? shows the commands`, name)
	return nil
}

func (p *prompt) describe(ctx context.Context, argument string) error {
	if argument == "" {
		return p.query(ctx, `SELECT schema, name, type, ncol AS columns FROM pragma_table_list
WHERE `+listed+` AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY schema, name`)
	}
	schema, name := splitName(argument)
	// SQLite looks for a name in the temporary schema first.
	in := ""
	if schema != "" {
		in = " AND schema = " + literal(schema) + " COLLATE NOCASE"
	}
	found, err := p.list(ctx, "SELECT schema FROM pragma_table_list WHERE name = "+literal(name)+
		" COLLATE NOCASE"+in+" ORDER BY schema <> 'temp', schema <> 'main'")
	if err != nil {
		return err
	}
	if len(found) == 0 {
		p.message(`there is no table or view %s; \d lists them`, argument)
		return nil
	}
	return p.query(ctx, `SELECT name AS column, type, iif("notnull", 'no', 'yes') AS "null",
dflt_value AS "default", nullif(pk, 0) AS "primary key"
FROM pragma_table_xinfo(`+literal(name)+", "+literal(found[0])+") WHERE hidden <> 1")
}

// splitName returns the two parts of SCHEMA.NAME, without quotes. The schema may be missing.
func splitName(text string) (schema, name string) {
	var parts []string
	var part strings.Builder
	open, closed := false, false // closed: the last character was a quote that ended a quoted text
	for _, r := range text {
		again := closed
		closed = false
		switch {
		case r == '"' && again: // a doubled quote stands for a quote
			part.WriteRune(r)
			open = true
		case r == '"':
			closed = open
			open = !open
		case r == '.' && !open && parts == nil:
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteRune(r)
		}
	}
	if parts != nil {
		schema = parts[0]
	}
	return schema, part.String()
}

func (p *prompt) setFormat(_ context.Context, argument string) error {
	if argument == "" {
		p.message("the format is %s", p.format)
		return nil
	}
	f, err := ParseFormat(argument)
	if err != nil {
		p.message("%v", err)
		return nil
	}
	p.format = f
	return nil
}

func (p *prompt) toggleTiming(context.Context, string) error {
	p.timing = !p.timing
	if p.timing {
		p.message("timing is on")
	} else {
		p.message("timing is off")
	}
	return nil
}

func (p *prompt) quit(context.Context, string) error { return errLeft }

func (p *prompt) help(context.Context, string) error {
	var b strings.Builder
	b.WriteString("A statement ends with a semicolon, and may have several lines. Ctrl-C stops a\n" +
		"running statement, or discards what you have typed. Tab completes names and\n" +
		"keywords. Ctrl-R searches the history.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-16s %s\n", strings.TrimSpace(c.name+" "+c.argument), c.about)
	}
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return &outputError{err}
	}
	return nil
}
