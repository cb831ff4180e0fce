package requestlog

// Record is one request as the log tells it, in JSON. Times are in milliseconds.
type Record struct {
	ID    int64 `json:"id"`
	Begin int64 `json:"begin"` // since 1970
	// From is what made the request: the value of the header Kubetab-Client,
	// "kubectl" for one with a Kubectl-Command, "page" for any other from
	// outside, and the first word of the user agent for one from inside.
	From     string `json:"from"`
	Internal bool   `json:"internal,omitempty"` // made by a component inside the engine
	Command  string `json:"command,omitempty"`  // of kubectl

	Method string `json:"method"`
	Path   string `json:"path"` // and query

	// As the authorizer was asked; empty for a request that did not get so far.
	Verb         string `json:"verb,omitempty"`
	Group        string `json:"group,omitempty"`
	Resource     string `json:"resource,omitempty"`
	Subresource  string `json:"subresource,omitempty"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name,omitempty"`
	User         string `json:"user,omitempty"`
	Impersonator string `json:"impersonator,omitempty"`

	Status       int    `json:"status,omitempty"` // 0 before the head
	ContentType  string `json:"contentType,omitempty"`
	HeadMS       int64  `json:"headMs,omitempty"`
	MS           int64  `json:"ms"` // until its end, or until now
	RequestBytes int64  `json:"requestBytes,omitempty"`
	Bytes        int64  `json:"bytes,omitempty"`

	Watch  bool  `json:"watch,omitempty"`
	Events int64 `json:"events,omitempty"` // that a watch has sent
	Done   bool  `json:"done,omitempty"`
	// Broken says why the answer ended before it was complete.
	Broken string `json:"broken,omitempty"`
}

// Detail is all that the log has of one request.
type Detail struct {
	Record          `tstype:",extends"`
	Reason          string      `json:"reason,omitempty"` // why the authorizer allowed or refused it
	RequestHeaders  [][2]string `json:"requestHeaders" tstype:"HeaderPair[]"`
	ResponseHeaders [][2]string `json:"responseHeaders" tstype:"HeaderPair[]"`
	RequestBody     *Body       `json:"requestBody,omitempty"`
	ResponseBody    *Body       `json:"responseBody,omitempty"`
	// Audit is the audit events of the request, one for each stage, the last first: Events of audit.k8s.io/v1 in YAML.
	Audit string `json:"audit,omitempty"`
}

// Body is a body as text. What Kubernetes encodes in protobuf is shown as the JSON that means the same.
type Body struct {
	Text     string `json:"text"`
	Language string `json:"language" tstype:"'json' | 'yaml' | 'text'"`
	Size     int64  `json:"size"` // of the whole
	Kept     int    `json:"kept"` // bytes of it in the log
	// Note says in what way Text is not what went over the wire.
	Note string `json:"note,omitempty"`
}

// Event is one event of a watch.
type Event struct {
	Seq  int64 `json:"seq"` // counted from 1
	At   int64 `json:"at"`  // milliseconds since 1970
	Body Body  `json:"body"`
}

// AuditLevel is what GET of AuditPath answers and PUT takes.
type AuditLevel struct {
	Level string `json:"level" tstype:"'Metadata' | 'Request' | 'RequestResponse'"` // as in an audit policy
}
