package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The version of PostgreSQL that the server names. The catalog has the tables of this version.
const (
	serverVersion    = "15.0"
	serverVersionNum = "150000"
	versionText      = "PostgreSQL 15.0 (Vast, SQL of SQLite)"
)

// reportedSettings are the settings whose values the server sends to a client. It sends all values when the
// client connects, and the value of one setting when the setting changes (see session.report).
var reportedSettings = []string{
	"server_version", "server_encoding", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone",
	"integer_datetimes", "standard_conforming_strings", "is_superuser", "session_authorization",
	"application_name", "default_transaction_read_only", "in_hot_standby",
}

// fixedSettings are settings that a client cannot change. There is one exception: on a server with
// Options.Write, a client can change default_transaction_read_only. The setting transaction_read_only always
// has the same value as default_transaction_read_only.
var fixedSettings = map[string]string{
	"server_version": serverVersion, "server_version_num": serverVersionNum, "server_encoding": "UTF8",
	"client_encoding": "UTF8", "integer_datetimes": "on", "standard_conforming_strings": "on",
	"is_superuser": "off", "default_transaction_read_only": "on", "transaction_read_only": "on",
	"in_hot_standby": "off", "timezone": "UTC", "max_identifier_length": "63", "lc_collate": "C.UTF-8",
	"lc_ctype": "C.UTF-8", "bytea_output": "hex", "block_size": "8192",
}

// defaultSettings are the defaults of settings that clients can change. Only statement_timeout has an effect.
var defaultSettings = map[string]string{
	"application_name": "", "datestyle": "ISO, MDY", "intervalstyle": "postgres",
	"search_path":        `"$user", public`,
	"extra_float_digits": "1", "statement_timeout": "0", "lock_timeout": "0",
	"idle_in_transaction_session_timeout": "0", "client_min_messages": "notice",
	"transaction_isolation": "read committed", "default_transaction_isolation": "read committed",
	"transaction_deferrable": "off", "row_security": "on", "synchronous_commit": "on", "jit": "off",
}

// settings are the settings of a session by name in lower case.
type settings map[string]string

// newSettings returns the default settings with those that a client gives when it connects.
func newSettings(parameters map[string]string) settings {
	s := maps.Clone(defaultSettings)
	for name, value := range parameters {
		if name != "user" && name != "database" && name != "options" && name != "replication" {
			s[strings.ToLower(name)] = value
		}
	}
	return s
}

// user returns the name that the client gave. It implements sessionValues.
func (x *session) user() string { return x.userName }

// processID implements sessionValues.
func (x *session) processID() uint32 { return x.id }

// setting returns the value of a setting. It implements sessionValues.
func (x *session) setting(name string) (string, bool) {
	name = strings.ToLower(name)
	if name == "session_authorization" {
		return x.userName, true
	}
	if name == "default_transaction_read_only" || name == "transaction_read_only" {
		return x.readOnlySetting(), true
	}
	if value, ok := fixedSettings[name]; ok {
		return value, true
	}
	value, ok := x.settings[name]
	return value, ok
}

// statementTimeout returns the setting statement_timeout, or 0 for no limit. A client may connect with an
// invalid setting, which sets no limit.
func (x *session) statementTimeout() time.Duration {
	limit, err := parseTimeout(x.settings["statement_timeout"])
	if err != nil {
		return 0
	}
	return limit
}

// parseTimeout reads milliseconds, or a number with a unit such as 5s, 2min, 1h.
func parseTimeout(text string) (time.Duration, error) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "min", "m")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Millisecond, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit < 0 {
		return 0, failWithHint(codeInvalidParameter, "invalid time "+text,
			"Write milliseconds, or a unit: 5s.")
	}
	return limit, nil
}

// maxSettings bounds the settings of a session, because clients may invent names of settings.
const maxSettings = 1000

// setCommand performs SET name = value and RESET name. It returns the command tag.
func (x *session) setCommand(tokens []token) (string, error) {
	command := strings.ToUpper(tokens[0].text)
	tokens = tokens[1:]
	if len(tokens) > 0 && (tokens[0].is("session") || tokens[0].is("local")) {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return "", fail(codeSyntax, command+" without the name of a setting")
	}
	if command == "RESET" {
		if name := tokens[0].name(); name == "all" {
			x.resetAll()
		} else {
			x.reset(name)
		}
		return command, nil
	}
	name, value, err := parseSetting(tokens)
	if err != nil {
		return "", err
	}
	_, fixed := fixedSettings[name]
	_, known := x.settings[name]
	switch {
	case name == "client_encoding" && !isUTF8(value) && value != "default":
		return "", failWithHint(codeInvalidParameter, "unsupported encoding "+value,
			"Use client_encoding UTF8.")
	case name == "default_transaction_read_only":
		return command, x.setReadOnly(value)
	case name == "transaction_read_only" && isOff(value) && !x.server.options.Write:
		return "", failWithHint(codeReadOnly, "the server is read-only", "Leave "+name+" on.")
	case name == "transaction":
		return command, x.setModes(tokens)
	case fixed: // ignored: the server has only one time zone and one encoding, for example
	case value == "default":
		x.reset(name)
	case name == "statement_timeout":
		if _, err := parseTimeout(value); err != nil {
			return "", err
		}
		x.settings[name] = value
	case !known && len(x.settings) >= maxSettings:
		return "", failWithHint(codeLimit, fmt.Sprintf("%d settings are stored, more are not possible",
			maxSettings), "Send RESET ALL.")
	default:
		x.settings[name] = value
		x.report(name)
	}
	return command, nil
}

func isUTF8(value string) bool {
	value = strings.ToLower(value)
	return value == "utf8" || value == "utf-8" || value == "unicode"
}

func isOff(value string) bool {
	off, err := parseBool(value)
	return err == nil && !off
}

// reset gives a setting the value that it had after the client connected.
func (x *session) reset(name string) {
	if value, ok := x.initial[name]; ok {
		x.settings[name] = value
	} else {
		delete(x.settings, name)
	}
	x.report(name)
}

// resetAll resets all settings and reports those whose values change.
func (x *session) resetAll() {
	old := x.settings
	x.settings = maps.Clone(x.initial)
	for _, name := range reportedSettings {
		if key := strings.ToLower(name); old[key] != x.settings[key] {
			x.report(name)
		}
	}
}

// parseSetting reads name = value, name TO value, TIME ZONE value, and similar forms.
func parseSetting(tokens []token) (name, value string, err error) {
	name = tokens[0].name()
	tokens = tokens[1:]
	switch {
	case name == "time" && len(tokens) > 0 && tokens[0].is("zone"):
		name, tokens = "timezone", tokens[1:]
	case name == "names":
		name = "client_encoding"
	case name == "transaction" || name == "characteristics":
		return "transaction", joinWords(tokens), nil
	case name == "role" || name == "constraints" || name == "authorization":
		return name, joinWords(tokens), nil
	}
	for len(tokens) > 1 && tokens[0].is(".") {
		name += "." + tokens[1].name()
		tokens = tokens[2:]
	}
	if len(tokens) > 0 && (tokens[0].is("=") || tokens[0].is("to")) {
		tokens = tokens[1:]
	}
	if name == "" || len(tokens) == 0 {
		return "", "", failWithHint(codeSyntax, "SET without a value", "Write SET name = value.")
	}
	return name, joinWords(tokens), nil
}

// joinWords returns the value of a setting that tokens stand for. Strings lose their quotes.
func joinWords(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && !t.is(",") && !tokens[i-1].is("-") {
			b.WriteByte(' ')
		}
		switch t.kind {
		case tokenString:
			b.WriteString(stringValue(t))
		default:
			b.WriteString(t.text)
		}
	}
	if len(tokens) == 1 && tokens[0].kind == tokenWord {
		return strings.ToLower(b.String())
	}
	return b.String()
}

// report sends the new value of a setting to the client, if the setting is one of reportedSettings.
func (x *session) report(name string) {
	at := slices.IndexFunc(reportedSettings, func(s string) bool { return strings.EqualFold(s, name) })
	if at >= 0 {
		value, _ := x.setting(name)
		x.sendParameter(reportedSettings[at], value)
	}
}

// show returns the rows of SHOW.
func (x *session) show(tokens []token) (*cursor, error) {
	name := ""
	for _, t := range tokens[1:] {
		name += strings.ToLower(t.text)
	}
	switch name {
	case "":
		return nil, failWithHint(codeSyntax, "SHOW without the name of a setting", "Write SHOW ALL.")
	case "all":
		return x.showAll(), nil
	case "timezone", "time":
		name = "timezone"
	case "transactionisolationlevel":
		name = "transaction_isolation"
	}
	value, ok := x.setting(strings.Trim(name, `"`))
	if !ok {
		return nil, failWithHint(codeNoSetting, "unrecognized configuration parameter "+quoteName(name),
			"SHOW ALL lists the settings.")
	}
	return fixedCursor([]column{{name: name, oid: oidText}}, [][]any{{value}}), nil
}

func (x *session) showAll() *cursor {
	all := maps.Clone(fixedSettings)
	maps.Copy(all, x.settings)
	var rows [][]any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, _ := x.setting(name)
		rows = append(rows, []any{name, value, ""})
	}
	return fixedCursor([]column{{name: "name", oid: oidText}, {name: "setting", oid: oidText},
		{name: "description", oid: oidText}}, rows)
}
