package coreutils

import (
	"encoding/base64"
	"io"
	"mime/multipart"
	"net"
	"net/url"
	"path"
	"strings"
)

// curlLetters are the short names of options, curlValues those that have a value, and curlFlags the others. Of these, some say
// what is so in any case, or what makes no difference here.
var (
	curlLetters = map[byte]string{'A': "user-agent", 'b': "cookie", 'c': "cookie-jar", 'd': "data", 'E': "cert", 'f': "fail", 'H': "header", 'i': "include",
		'I': "head", 'k': "insecure", 'L': "location", 'm': "max-time", 'D': "dump-header", 'F': "form", 'G': "get", 'o': "output", 'O': "remote-name", 'S': "show-error", 's': "silent", 'T': "upload-file", 'u': "user", 'v': "verbose",
		'w': "write-out", 'X': "request", 'x': "proxy", '#': "progress-bar", '0': "http1.0", '4': "ipv4", '6': "ipv6", 'g': "globoff", 'N': "no-buffer", 'V': "version", 'h': "help"}
	curlValues = map[string]bool{"cacert": true, "cert": true, "connect-timeout": true, "connect-to": true, "cookie": true, "cookie-jar": true, "data": true, "data-binary": true,
		"data-raw": true, "data-urlencode": true, "dump-header": true, "form": true, "header": true, "json": true, "key": true, "max-time": true, "output": true, "proxy": true, "request": true, "resolve": true,
		"retry": true, "retry-delay": true, "upload-file": true, "url": true, "user": true, "user-agent": true, "write-out": true}
	curlFlags = map[string]bool{"compressed": true, "fail": true, "fail-with-body": true, "get": true, "globoff": true, "head": true, "help": true, "http1.0": true, "http1.1": true, "http2": true,
		"include": true, "insecure": true, "ipv4": true, "ipv6": true, "location": true, "location-trusted": true, "no-buffer": true, "no-progress-meter": true, "progress-bar": true, "remote-name": true,
		"retry-all-errors": true, "retry-connrefused": true, "show-error": true, "silent": true, "tlsv1.2": true, "tlsv1.3": true, "verbose": true, "version": true}
)

// parse takes the arguments apart. It returns what to exit with, 0 to go on.
func (c *curlCommand) parse() int {
	args := c.Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		// value is the rest of the argument, or the next one.
		value := func(rest string) (string, bool) {
			if rest != "" || len(args) == 0 {
				return rest, rest != ""
			}
			rest, args = args[0], args[1:]
			return rest, true
		}
		if name, isLong := strings.CutPrefix(arg, "--"); isLong {
			text := ""
			if !curlValues[name] && !curlFlags[name] {
				return c.misused("option %s: is unknown", arg)
			}
			if curlValues[name] {
				var ok bool
				if text, ok = value(""); !ok {
					return c.misused("option %s: requires parameter", arg)
				}
			}
			if code := c.set(name, text); code != 0 {
				return code
			}
			continue
		}
		if len(arg) < 2 || arg[0] != '-' {
			c.address = arg
			continue
		}
		for i := 1; i < len(arg); i++ {
			name, ok := curlLetters[arg[i]]
			if !ok {
				return c.misused("option -%s: is unknown", arg[i:])
			}
			if !curlValues[name] {
				c.on[name] = true
				continue
			}
			text, ok := value(arg[i+1:])
			if !ok {
				return c.misused("option -%c: requires parameter", arg[i])
			}
			if code := c.set(name, text); code != 0 {
				return code
			}
			break
		}
	}
	return 0
}

// set takes in an option. It returns what to exit with, 0 to go on. It is long because each option is taken in another way.
func (c *curlCommand) set(name, value string) int {
	switch name {
	case "url":
		c.address = value
	case "request":
		c.method = value
	case "header":
		addHeader(c.header, value)
	case "user-agent":
		c.header.Set("User-Agent", value)
	case "user":
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	case "output":
		c.output = value
	case "write-out":
		c.format = value
	case "cacert":
		c.authorities = value
	case "cert":
		c.certificate = value
	case "key":
		c.key = value
	case "max-time", "connect-timeout":
		c.limit, _ = ParseDuration(value)
	case "data", "data-binary", "data-raw", "json":
		if from, isFile := strings.CutPrefix(value, "@"); isFile && name != "data-raw" {
			text, err := c.read(from)
			if err != nil {
				return c.fail(26, "Failed to open %s", from)
			}
			if value = string(text); name == "data" {
				value = strings.NewReplacer("\r", "", "\n", "").Replace(value)
			}
		}
		c.data = append(c.data, value)
		if name == "json" {
			c.header.Set("Content-Type", "application/json")
			c.header.Set("Accept", "application/json")
		}
	case "data-urlencode":
		name, text, isNamed := strings.Cut(value, "=")
		if !isNamed {
			name, text = "", value
		}
		if text = strings.ReplaceAll(url.QueryEscape(text), "+", "%20"); name != "" {
			text = name + "=" + text
		}
		c.data = append(c.data, text)
	case "form":
		return c.field(value)
	case "dump-header":
		c.headers = value
	case "resolve":
		parts := strings.SplitN(strings.TrimPrefix(value, "+"), ":", 3)
		if len(parts) < 3 {
			return c.fail(49, "Couldn't parse CURLOPT_RESOLVE entry '%s'", value)
		}
		c.places[parts[0]+":"+parts[1]] = net.JoinHostPort(strings.Trim(parts[2], "[]"), parts[1])
	case "connect-to":
		parts := strings.SplitN(value, ":", 4)
		if len(parts) < 4 {
			return c.fail(49, "Couldn't parse CURLOPT_CONNECT_TO entry '%s'", value)
		}
		place, port := parts[2], parts[3]
		if place == "" {
			place = parts[0]
		}
		if port == "" {
			port = parts[1]
		}
		c.places[parts[0]+":"+parts[1]] = net.JoinHostPort(place, port)
	case "upload-file":
		text, err := c.read(value)
		if err != nil {
			return c.fail(26, "Failed to open %s", value)
		}
		c.body = text
		c.on[name] = true
	default:
		c.on[name] = true
	}
	return 0
}

// field adds a part of a form: NAME=VALUE, or NAME=@FILE.
func (c *curlCommand) field(value string) int {
	name, text, ok := strings.Cut(value, "=")
	if !ok {
		return c.misused("Illegally formatted input field")
	}
	if c.form == nil {
		c.form = multipart.NewWriter(&c.parts)
	}
	content, err := []byte(text), error(nil)
	var to io.Writer
	if from, isFile := strings.CutPrefix(text, "@"); isFile {
		from, _, _ = strings.Cut(from, ";")
		if content, err = c.read(from); err != nil {
			return c.fail(26, "Failed to open/read local data from file/application")
		}
		to, err = c.form.CreateFormFile(name, path.Base(from))
	} else {
		to, err = c.form.CreateFormField(name)
	}
	if err == nil {
		_, err = to.Write(content)
	}
	if err != nil { // a buffer takes it all
		return c.fail(26, "%v", err)
	}
	return 0
}
