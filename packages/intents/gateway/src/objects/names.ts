/** `spec.controllerName` of GatewayClasses that are ours. */
export const CONTROLLER_NAME = 'spout.dev/gateway'
/** Keeps a Gateway until its load balancer is gone. */
export const FINALIZER = 'spout.dev/gateway-cleanup'
/** Condition of a Gateway: False while some of its DNS names cannot be published; absent otherwise. */
export const CONDITION_DNS_NAMES = 'spout.dev/DnsNames'
/** Condition of a Gateway: False while one of its pools has no room for all endpoints; absent otherwise. */
export const CONDITION_ALL_ENDPOINTS = 'spout.dev/AllEndpoints'
export const GATEWAY_GROUP = 'gateway.networking.k8s.io'

/**
 * The features that conformance tests may expect beyond the core, sorted as the API requires. The names come from
 * `pkg/features` of Gateway API v1.6.
 */
export const SUPPORTED_FEATURES: readonly string[] = [
  'BackendTLSPolicy',
  'GRPCRoute',
  'GRPCRouteNamedRouteRule',
  'Gateway',
  'GatewayAddressEmpty',
  'GatewayBackendClientCertificate',
  'GatewayFrontendClientCertificateValidation',
  'GatewayFrontendClientCertificateValidationInsecureFallback',
  'GatewayHTTPListenerIsolation',
  'GatewayHTTPSListenerDetectMisdirectedRequests',
  'GatewayPort8080',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRoute303RedirectStatusCode',
  'HTTPRoute307RedirectStatusCode',
  'HTTPRoute308RedirectStatusCode',
  'HTTPRouteBackendProtocolH2C',
  'HTTPRouteBackendProtocolWebSocket',
  'HTTPRouteBackendRequestHeaderModification',
  'HTTPRouteBackendTimeout',
  'HTTPRouteCORS',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestMirror',
  'HTTPRouteRequestMultipleMirrors',
  'HTTPRouteRequestPercentageMirror',
  'HTTPRouteRequestTimeout',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteSchemeRedirect',
  'ListenerSet',
  'ReferenceGrant',
  'TCPRoute',
  'TLSRoute',
  'TLSRouteModeMixed',
  'TLSRouteModeTerminate',
  'UDPRoute',
]
