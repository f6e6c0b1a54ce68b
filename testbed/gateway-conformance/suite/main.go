// Command suite runs the conformance suite of Gateway API as it is, with the flags of `go test` and its own:
//
//	suite -test.v -gateway-class=spout -conformance-profiles=GATEWAY-HTTP -report-output=report.yaml
//
// KUBECONFIG names the cluster.
package main

import (
	"regexp"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
)

func main() {
	tests := []testing.InternalTest{{Name: "TestConformance", F: conformance.RunConformance}}
	testing.Main(regexp.MatchString, tests, nil, nil)
}
