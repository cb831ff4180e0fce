// Package share keeps what people send each other by a short link: files of a workspace, or a cluster as a bundle.
// It is a handler over a small Storage, and is mounted by kubetab serve (a Directory) and by the edge Worker (KV).
// docs/sharing.md describes it for those who run one.
//
//	POST   /s      the content, as it travels in a link -> 201 {"id"}; 200 if it was there
//	GET    /s/ID   the content
//	DELETE /s/ID   takes it down, with the operator's token
//
// The package imports neither the engine nor Kubernetes: the Worker is small.
//
// # Invariants
//
//   - An ID is a hash of the content. The same content is the same link, nothing is ever replaced, and a torn record is
//     no content.
//   - Content comes from anybody and goes to anybody. It is inflated up to a limit and has the shape that it says,
//     before it is kept; it is served as a type that no browser shows.
//   - What was taken down stays so, also when it is sent again.
package share

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Path is where the handler is, below the address of the page.
const Path = "/s"

// Header is a header of the answer with the page when the host has a store; its value is Path without the slash. A page
// requests its own address and looks for the header: requesting Path on a host without a store would be an error in the
// browser's console.
const Header = "Kubetab-Share"

const (
	// MostBytes is how large content may be, compressed as it is sent.
	MostBytes = 256 << 10
	// Unused is how long content is kept without a request for it.
	Unused = 90 * 24 * time.Hour
	// renewal is how old the last use may be that a record tells: a record is not written with each use.
	renewal = 24 * time.Hour
)

var (
	// ErrMissing is the error of a Storage that has nothing under a key.
	ErrMissing = errors.New("nothing is kept under this name")
	// ErrFull is the error of a Storage that has no room.
	ErrFull = errors.New("the store is full")
)

// Storage keeps records under keys, which are IDs. It may be called at once.
type Storage interface {
	// Get returns what was put last, or ErrMissing.
	Get(ctx context.Context, key string) ([]byte, error)
	// Put keeps a record, whole or not at all, for at least ttl; 0 is for ever.
	Put(ctx context.Context, key string, record []byte, ttl time.Duration) error
}

// Limiter says how often an address may ask. It may be called at once.
type Limiter interface {
	// Allow counts a request of address, and reports whether it is one too many.
	Allow(ctx context.Context, address string) (bool, error)
}

// Config is what a Handler works with.
type Config struct {
	Storage Storage
	// Writes limits POST and DELETE, Reads limits GET. Nil limits nothing.
	Writes, Reads Limiter
	// Address returns where a request comes from. Nil is the request's RemoteAddr.
	Address func(*http.Request) string
	// Token is the operator's, with which DELETE takes content down. Empty allows no DELETE.
	Token string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Handler serves Path and what is below. Safe for concurrent use.
type Handler struct {
	config Config
	origin *http.CrossOriginProtection
}

// New returns a handler.
func New(config Config) *Handler {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Address == nil {
		config.Address = remote
	}
	return &Handler{config, http.NewCrossOriginProtection()}
}

// Owns reports whether a path is the handler's.
func Owns(path string) bool { return path == Path || strings.HasPrefix(path, Path+"/") }

// headers go with every answer: nothing that is kept here is ever a page.
var headers = [][2]string{
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, each := range headers {
		w.Header().Set(each[0], each[1])
	}
	id, isContent := strings.CutPrefix(r.URL.Path, Path+"/")
	var err error
	switch {
	case r.URL.Path == Path && r.Method == http.MethodPost:
		err = h.post(w, r)
	case r.URL.Path == Path:
		w.Header().Set("Allow", "POST")
		err = refuse(http.StatusMethodNotAllowed, "content is sent with POST")
	case !isContent || !isID(id):
		err = refuse(http.StatusNotFound, "this is no name of anything")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		err = h.get(w, r, id)
	case r.Method == http.MethodDelete && h.config.Token != "":
		err = h.delete(w, r, id)
	default:
		w.Header().Set("Allow", "GET, HEAD")
		err = refuse(http.StatusMethodNotAllowed, "content is asked for with GET")
	}
	if err != nil {
		fail(w, err)
	}
}

// refusal is an error that the client is told.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(code int, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

func fail(w http.ResponseWriter, err error) {
	var known *refusal
	if !errors.As(err, &known) {
		known = &refusal{http.StatusInternalServerError, "the store does not answer"}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(known.code)
	_ = json.NewEncoder(w).Encode(Refusal{known.message}) // the client has gone: nobody to tell
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request) error {
	// A form of another site cannot send these types; what else it can send is refused here.
	if err := h.origin.Check(r); err != nil {
		return refuse(http.StatusForbidden, "another site has sent this")
	}
	if err := h.limit(w, r, h.config.Writes); err != nil {
		return err
	}
	kind := kindOf(r.Header.Get("Content-Type"))
	if kind == "" {
		return refuse(http.StatusUnsupportedMediaType, "send %s or %s", mediaTypes[filesKind], mediaTypes[bundleKind])
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, MostBytes+1))
	if err != nil {
		return refuse(http.StatusBadRequest, "the content ends early")
	}
	if len(content) > MostBytes {
		return refuse(http.StatusRequestEntityTooLarge, "content may have %d bytes", MostBytes)
	}
	if err := check(kind, content); err != nil {
		return refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	id := ID(content)
	code := http.StatusOK
	found, err := h.read(r.Context(), id)
	switch {
	case errors.Is(err, ErrMissing):
		code = http.StatusCreated
		err = h.write(r.Context(), id, record{kind: kind, content: content})
	case err == nil && found.kind == goneKind:
		return refuse(http.StatusGone, "this content was taken down")
	case err == nil:
		err = h.renew(r.Context(), id, found)
	}
	if errors.Is(err, ErrFull) {
		return refuse(http.StatusInsufficientStorage, "%v", ErrFull)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(Stored{id}) // the client has gone: nobody to tell
	return nil
}

func (h *Handler) get(w http.ResponseWriter, r *http.Request, id string) error {
	if err := h.limit(w, r, h.config.Reads); err != nil {
		return err
	}
	found, err := h.read(r.Context(), id)
	switch {
	case errors.Is(err, ErrMissing):
		return refuse(http.StatusNotFound, "nothing is kept under this name: it may have been unused for 90 days")
	case err != nil:
		return err
	case found.kind == goneKind:
		return refuse(http.StatusGone, "this content was taken down")
	}
	// It is there, and is sent, even if its use cannot be written down.
	_ = h.renew(r.Context(), id, found)
	tag := `"` + id + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // a proxy would keep what is taken down
	if matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", mediaTypes[found.kind])
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("Content-Length", strconv.Itoa(len(found.content)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(found.content) // the client has gone: nobody to tell
	}
	return nil
}

func (h *Handler) delete(w http.ResponseWriter, r *http.Request, id string) error {
	if err := h.limit(w, r, h.config.Writes); err != nil {
		return err
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(h.config.Token)) != 1 {
		return refuse(http.StatusUnauthorized, "the operator's token is needed")
	}
	if err := Remove(r.Context(), h.config.Storage, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Remove takes content down: it is gone, and cannot be sent again. There need not be any. Errors: id is none, and those of
// the storage.
func Remove(ctx context.Context, s Storage, id string) error {
	if !isID(id) {
		return fmt.Errorf("%q is no name of shared content", id)
	}
	return s.Put(ctx, id, record{kind: goneKind}.encode(), 0)
}

// read returns what is kept under id, and ErrMissing for what is torn or was unused for too long.
func (h *Handler) read(ctx context.Context, id string) (record, error) {
	text, err := h.config.Storage.Get(ctx, id)
	if err != nil {
		return record{}, err
	}
	found, err := decode(text)
	switch {
	case err != nil:
		return record{}, fmt.Errorf("%w: %w", ErrMissing, err)
	case found.kind == goneKind:
		return found, nil
	case ID(found.content) != id:
		return record{}, fmt.Errorf("%w: the record is torn", ErrMissing)
	case h.config.Now().Sub(found.used) > Unused:
		return record{}, ErrMissing
	}
	return found, nil
}

func (h *Handler) write(ctx context.Context, id string, r record) error {
	r.used = h.config.Now()
	return h.config.Storage.Put(ctx, id, r.encode(), Unused)
}

// renew writes down that a record is used, at most once a day.
func (h *Handler) renew(ctx context.Context, id string, r record) error {
	if h.config.Now().Sub(r.used) < renewal {
		return nil
	}
	return h.write(ctx, id, r)
}

func (h *Handler) limit(w http.ResponseWriter, r *http.Request, l Limiter) error {
	if l == nil {
		return nil
	}
	ok, err := l.Allow(r.Context(), network(h.config.Address(r)))
	if err != nil {
		return err
	}
	if !ok {
		w.Header().Set("Retry-After", "60")
		return refuse(http.StatusTooManyRequests, "too many requests come from this address: try again in a minute")
	}
	return nil
}

func remote(r *http.Request) string { return r.RemoteAddr }

// network is who an address belongs to: itself, or its /64 for IPv6, of which one customer has many addresses.
func network(address string) string {
	if with, err := netip.ParseAddrPort(address); err == nil {
		address = with.Addr().String()
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}

// ID returns the name of content: 120 bits of its SHA-256, in letters that file systems keep apart.
func ID(content []byte) string {
	sum := sha256.Sum256(content)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15]))
}

var idPattern = regexp.MustCompile(`^[a-z2-7]{24}$`)

func isID(text string) bool { return idPattern.MatchString(text) }

// matches reports whether tag is in the lists of If-None-Match.
func matches(lists []string, tag string) bool {
	for _, list := range lists {
		for each := range strings.SplitSeq(list, ",") {
			each = strings.TrimSpace(each)
			if each == "*" || strings.TrimPrefix(each, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// record is what a Storage keeps.
type record struct {
	kind    string
	used    time.Time // in seconds
	content []byte
}

const magic = "kubetab.share 1"

// encode returns a line with the magic, the time of the last use in seconds since 1970, and the kind; then the content.
func (r record) encode() []byte {
	return append(fmt.Appendf(nil, "%s %d %s\n", magic, r.used.Unix(), r.kind), r.content...)
}

func decode(text []byte) (record, error) {
	head, content, ok := strings.Cut(string(text), "\n")
	fields := strings.Fields(strings.TrimPrefix(head, magic))
	if !ok || !strings.HasPrefix(head, magic+" ") || len(fields) != 2 {
		return record{}, errors.New("it is no record of a share store")
	}
	used, err := strconv.ParseInt(fields[0], 10, 64)
	if _, known := mediaTypes[fields[1]]; err != nil || !known && fields[1] != goneKind {
		return record{}, errors.New("it is no record of this version of the share store")
	}
	return record{fields[1], time.Unix(used, 0), []byte(content)}, nil
}
