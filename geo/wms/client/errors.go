package client

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"quern.dev/geo/internal/failure"
)

// Errors match one of these, or those of package net/http.
var (
	// ErrArgument is an argument that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrAnswer is an answer that is not what was requested.
	ErrAnswer = errors.New("bad answer")
	// ErrService is an exception of the service, or a status that means failure: see [ServiceError].
	ErrService = errors.New("the service refuses")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "client: "+format, args...)
}

// ServiceError is an exception of a service, or a failure that its status names. It matches ErrService.
type ServiceError struct {
	URL    string
	Status int    // of HTTP
	Code   string // such as "LayerNotDefined", or empty
	Text   string
}

// Error names the code, the text and the request.
func (e *ServiceError) Error() string {
	return fmt.Sprintf("client: %s: status %d: %s", e.URL, e.Status, strings.TrimSpace(e.Code+" "+e.Text))
}

// Unwrap returns ErrService.
func (e *ServiceError) Unwrap() error { return ErrService }

// exception reads an exception report of WMS or OWS; nil if a body is none.
func exception(url string, status int, body []byte) *ServiceError {
	var report struct {
		XMLName  xml.Name
		Services []struct {
			Code string `xml:"code,attr"`
			Text string `xml:",chardata"`
		} `xml:"ServiceException"`
		Exceptions []struct {
			Code string   `xml:"exceptionCode,attr"`
			Text []string `xml:"ExceptionText"`
		} `xml:"Exception"`
	}
	if xml.Unmarshal(body, &report) != nil {
		return nil
	}
	e := &ServiceError{URL: url, Status: status}
	switch {
	case len(report.Services) > 0:
		e.Code, e.Text = report.Services[0].Code, strings.TrimSpace(report.Services[0].Text)
	case len(report.Exceptions) > 0:
		e.Code, e.Text = report.Exceptions[0].Code, strings.TrimSpace(strings.Join(report.Exceptions[0].Text, " "))
	default:
		return nil
	}
	return e
}
