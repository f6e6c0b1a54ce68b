// The controller of cert-manager, from its own packages: issuers of ACME, and of self-signed certificates.
//
// Its own main (cmd/controller) cannot be built here, because a module that it needs for other issuers is not to be had.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"

	_ "github.com/cert-manager/cert-manager/pkg/controller/acmechallenges"
	_ "github.com/cert-manager/cert-manager/pkg/controller/acmeorders"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/gateways"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/ingresses"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/acme"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// The flags have the names and defaults of cert-manager's own main.
func options() controller.ContextOptions {
	kubeconfig := flag.String("kubeconfig", "", "the cluster")
	image := flag.String("acme-http01-solver-image", "", "image of the pods that answer challenges")
	nameserver := flag.String("acme-http01-solver-nameservers", "", "host:port that the self-check asks for names")
	gateways := flag.Bool("enable-gateway-api", false, "solve by HTTPRoutes, too")
	flag.Parse()
	options := controller.ContextOptions{Kubeconfig: *kubeconfig, KubernetesAPIQPS: 20, KubernetesAPIBurst: 50}
	options.ClusterResourceNamespace = "cert-manager"
	options.HTTP01SolverImage = *image
	options.HTTP01SolverResourceRequestCPU = resource.MustParse("10m")
	options.HTTP01SolverResourceRequestMemory = resource.MustParse("64Mi")
	options.HTTP01SolverResourceLimitsCPU = resource.MustParse("100m")
	options.HTTP01SolverResourceLimitsMemory = resource.MustParse("64Mi")
	options.ACMEHTTP01SolverRunAsNonRoot = true
	if *nameserver != "" {
		options.HTTP01SolverNameservers = []string{*nameserver}
	}
	options.DNS01CheckRetryPeriod = 10 * time.Second
	options.MaxConcurrentChallenges = 60
	options.DefaultIssuerKind = "Issuer"
	options.DefaultIssuerGroup = "cert-manager.io"
	options.DefaultAutoCertificateAnnotations = []string{"kubernetes.io/tls-acme"}
	options.CopiedAnnotationPrefixes = []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"}
	options.CertificateRequestMinimumBackoffDuration = time.Hour
	options.CertificateRequestMaximumBackoffDuration = 32 * time.Hour
	options.EnableGatewayAPI = *gateways
	return options
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, options()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, options controller.ContextOptions) error {
	contexts, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for name, construct := range controller.Known() {
		if name == "gateway-shim" && !options.EnableGatewayAPI {
			continue
		}
		one, err := construct(contexts)
		if err != nil {
			return err
		}
		group.Go(func() error { return one.Run(5, ctx) })
	}
	shared, err := contexts.Build()
	if err != nil {
		return err
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	if options.EnableGatewayAPI {
		shared.GWShared.Start(ctx.Done())
	}
	return group.Wait()
}
