// The program in the pods that answer HTTP-01 challenges, from cert-manager's own package, with the flags of its main.
package main

import (
	"flag"
	"log"

	"github.com/cert-manager/cert-manager/pkg/issuer/acme/http/solver"
	"github.com/go-logr/stdr"
)

func main() {
	var one solver.HTTP01Solver
	flag.IntVar(&one.ListenPort, "listen-port", 8089, "")
	flag.StringVar(&one.Domain, "domain", "", "")
	flag.StringVar(&one.Token, "token", "", "")
	flag.StringVar(&one.Key, "key", "", "")
	flag.Parse()
	log.Fatal(one.Listen(stdr.New(log.Default())))
}
