package shell

import (
	"bytes"
	"strings"
)

// maxStatement bounds the length of one statement, in bytes.
const maxStatement = 16 << 20

// statement is the text of one statement, with its semicolon if it has one.
type statement struct {
	text string
	line int // the line of the input on which text starts, from 1
}

// splitter divides SQL text into statements. It knows the quotes and comments of SQLite's grammar. The text
// may arrive in pieces; each byte is read once. The zero value is ready to use.
type splitter struct {
	text    []byte // the unfinished statement, and text after it that is not read yet
	read    int    // number of bytes of text that are read
	state   splitState
	content bool // whether the unfinished statement has more than blanks and comments
	lines   int  // number of line ends before text
}

type splitState uint8

const (
	inText         splitState = iota
	afterMinus                // after the first character of a possible --
	afterSlash                // after the first character of a possible /*
	inLineComment             // after --
	inBlockComment            // after /*
	afterStar                 // after a * in a block comment
	inString                  // in '…'; a doubled quote ends the string and starts another
	inName                    // in "…"
	inBackticks               // in `…`
	inBrackets                // in […]
)

// add appends text to the input.
func (s *splitter) add(text []byte) { s.text = append(s.text, text...) }

// next returns the next statement that ends with a semicolon. It skips statements without content.
func (s *splitter) next() (_ statement, ok bool) {
	for s.read < len(s.text) {
		b := s.text[s.read]
		s.read++
		if !s.step(b) {
			continue
		}
		content := s.content
		text := s.take()
		if content {
			return text, true
		}
	}
	return statement{}, false
}

// rest returns the text after the last semicolon, at the end of the input. Call rest after next has returned
// false. ok is false if the text is only blanks and comments.
func (s *splitter) rest() (_ statement, ok bool) {
	if s.state == afterMinus || s.state == afterSlash {
		s.content = true
	}
	content := s.content
	return s.take(), content
}

// unfinished reports whether the text after the last semicolon is more than blanks, line comments and closed
// block comments.
func (s *splitter) unfinished() bool {
	return s.content || s.state != inText && s.state != inLineComment
}

// step reads a byte, and reports whether the byte ends the statement.
func (s *splitter) step(b byte) (ends bool) {
	switch s.state {
	case inLineComment:
		if b == '\n' {
			s.state = inText
		}
		return false
	case inBlockComment:
		if b == '*' {
			s.state = afterStar
		}
		return false
	case afterStar:
		switch b {
		case '/':
			s.state = inText
		case '*':
		default:
			s.state = inBlockComment
		}
		return false
	case inString, inName, inBackticks, inBrackets:
		if b == [...]byte{inString: '\'', inName: '"', inBackticks: '`', inBrackets: ']'}[s.state] {
			s.state = inText
		}
		return false
	case afterMinus:
		if b == '-' {
			s.state = inLineComment
			return false
		}
		s.content = true // a minus sign
	case afterSlash:
		if b == '*' {
			s.state = inBlockComment
			return false
		}
		s.content = true // a division
	}
	s.state = inText
	switch b {
	case ';':
		return true
	case ' ', '\t', '\n', '\f', '\r':
		return false
	case '-':
		s.state = afterMinus
		return false
	case '/':
		s.state = afterSlash
		return false
	case '\'':
		s.state = inString
	case '"':
		s.state = inName
	case '`':
		s.state = inBackticks
	case '[':
		s.state = inBrackets
	}
	s.content = true
	return false
}

// take removes the text that is read, and returns it without the blanks around it.
func (s *splitter) take() statement {
	whole := s.text[:s.read]
	text := bytes.TrimLeft(whole, " \t\n\f\r")
	line := 1 + s.lines + bytes.Count(whole[:len(whole)-len(text)], []byte{'\n'})
	s.lines += bytes.Count(whole, []byte{'\n'})
	s.text, s.read = s.text[s.read:], 0
	s.state, s.content = inText, false
	return statement{strings.TrimRight(string(text), " \t\n\f\r"), line}
}
