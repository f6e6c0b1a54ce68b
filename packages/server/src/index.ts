/**
 * The HTTP host and its surfaces: native API, Keystone and Neutron facades, agent link, health. Surfaces authenticate
 * and translate. Every write goes through admission, every answer comes from the view. Nothing here decides or plans.
 */
export { AuditLog, auditDirectory } from './audit/audit-log.ts'
export { noteError } from './audit/audit-notes.ts'
export { isAdmin, listScope, mayKnow, projectForNew, requireRole } from './authn/access.ts'
export { type Authenticate, authenticateBy, sessionOf, tokenOf } from './authn/authenticate.ts'
export { Authenticator, type AuthenticatorOptions } from './authn/authenticator.ts'
export { bootstrap, type FirstAdmin } from './authn/bootstrap.ts'
export { bootstrapAccounts } from './authn/bootstrap-accounts.ts'
export { ensureClusterProject } from './authn/ensure-project.ts'
export type { ForeignSession, ForeignTokens } from './authn/foreign-session.ts'
export type { Session } from './authn/issued-tokens.ts'
export { type KnownAccount, type ReviewToken, ServiceAccounts } from './authn/service-accounts.ts'
export { healthApi } from './health.ts'
export { answerInPieces } from './http/answer-in-pieces.ts'
export { API_TLS } from './http/api-tls.ts'
export { type BaseUrl, baseUrl } from './http/base-url.ts'
export { CLIENT_ADDRESS_SOURCES, type ProxyTrust } from './http/client-address.ts'
export { errorOf, HTTP_STATUS } from './http/error-of.ts'
export {
  createServer,
  type Gate,
  type HostOptions,
  mount,
  NATIVE_BODY_LIMIT_BYTES,
  OPENSTACK_BODY_LIMIT_BYTES,
  type Surface,
} from './http/host.ts'
export { LocalSocket } from './http/local-socket.ts'
export { turnsOfLongBodies } from './http/long-body.ts'
export { queryOf, queryValue } from './http/query.ts'
export { type CatalogService, SERVICES } from './identity/catalog.ts'
export type { IdentityContext } from './identity/context.ts'
export { identityApi } from './identity/identity-api.ts'
export { type CertificateOf, certificateOf } from './key-manager/certificate-of.ts'
export { keyManagerApi } from './key-manager/key-manager-api.ts'
export { KeystoneClient, type ServiceCredential } from './keystone/keystone-client.ts'
export { KeystoneProjects } from './keystone/keystone-projects.ts'
export { KeystoneTokens } from './keystone/keystone-tokens.ts'
export { BYTES_OF_A_UNIT } from './limits/admit.ts'
export { type ApiGateOptions, apiGate, askerBy } from './limits/api-gate.ts'
export { arrivalLine, isLineOfStranger } from './limits/arrival-line.ts'
export { ArrivalTurns, orderArrivals } from './limits/arrival-turns.ts'
export { BodyBudget, type BodyLimits } from './limits/body-budget.ts'
export { type ConnectionLimits, limitConnections } from './limits/connection-limit.ts'
export { KnownReads, type SurfaceReads } from './limits/known-reads.ts'
export { OpenStreams, type StreamLimits } from './limits/open-streams.ts'
export { RequestShares, type ShareLimits } from './limits/request-shares.ts'
export { AgentLink, type AgentLinkOptions } from './link/agent-link.ts'
export { CertificateAuthority } from './link/certificate-authority.ts'
export { CertificateFiles } from './link/certificate-files.ts'
export type { ServedCertificate } from './link/served-certificate.ts'
export { ServerCertificate } from './link/server-certificate.ts'
export { nativeApi } from './native/native-api.ts'
export { renderOpenApi } from './native/openapi.ts'
export type { NativeContext, NetworkDefaults } from './native/operations/context.ts'
export type { NetworkContext } from './network/context.ts'
export { networkApi } from './network/network-api.ts'
export { type SegmentPool, segmentChooser } from './network/segments.ts'
export { RoundTurns } from './turns/round-turns.ts'
