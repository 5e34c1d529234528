// Package shell runs SQL statements for the command `vast sql`: statements of the command line, statements of
// a file or pipe, or statements that a user types at a prompt.
//
// [Run] does all of this with any database of [database/sql]. The prompt's completion and the command \d ask
// for tables and columns with pragmas of SQLite. Some messages show the place of a mistake: those for errors
// with the method SQL() string, such as the errors of github.com/ncruces/go-sqlite3. SQL returns the text of
// the statement from the mistake on.
//
//	db, err := driver.Open("file:world.db")
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	o := shell.Options{Statement: "SELECT * FROM town"}
//	status := shell.Run(ctx, db, o, os.Stdin, os.Stdout, os.Stderr)
//
// # Terminology
//
// A statement is SQL text that ends with a semicolon or with the end of the input. A semicolon within a
// string, a quoted name or a comment does not end a statement. But a semicolon within the body of a trigger
// ends the statement: use another program to make triggers.
//
// A result is the table that one statement returns. Statements that return no columns have no result.
//
// # Terminals
//
// A text of a database may have control characters, which would act on a terminal. Tables show visible
// characters instead, in every output. CSV does so on a terminal only, so that files keep the exact text.
// JSON escapes control characters, which changes no value. No format sends an escape sequence of a database
// to a terminal.
//
// The line editor is github.com/ergochat/readline: it has history search, a menu of completions and undo, it
// works on Windows, and it requires only golang.org/x/sys and golang.org/x/text. It is the maintained
// successor of github.com/chzyer/readline, under the MIT licence. The editor in golang.org/x/term has no
// history search and no menu, and reports Ctrl-C as the end of the input.
package shell
