/**
 * The model of intent, a file per kind: schema, defaults, cross-field rules. Also the one error table.
 *
 * It is neutral: terms of Octavia, Kubernetes or the Gateway API stay in their intent's folder. It is pure: no I/O, no
 * state.
 */
export * from './announce.ts'
export type { AnnouncerDescriptor } from './announcers/announcer.ts'
export { type BgpAnnounce, type GroupBgp, groupBgpSettings } from './announcers/bgp.ts'
export * from './announcers/group-settings.ts'
export {
  ANNOUNCER_NAMES,
  ANNOUNCER_WITHOUT_GROUP,
  ANNOUNCERS,
  type AnnouncerName,
  type AnnouncerParts,
  announcerNamed,
  announcerNamesInWords,
  announcersInWords,
  DEFAULT_ANNOUNCER,
  findAnnouncer,
  hasShards,
  isAnnouncedByEveryNode,
} from './announcers/registry.ts'
export {
  type AnnouncerSettings,
  jsonSchemaOf,
  requiredSettings,
  type Setting,
  settingsOf,
} from './announcers/settings.ts'
export {
  type GroupVrrp,
  MOST_SHARDS,
  VRRP_PROFILES,
  type VrrpAnnounce,
  type VrrpProfile,
  vrrpSettings,
} from './announcers/vrrp.ts'
export * from './audit-record.ts'
export { type BasicAuthentication, basicAuthentication } from './basic-authentication.ts'
export * from './bgp.ts'
export * from './certificate.ts'
export * from './check-kinds.ts'
export * from './ciphers.ts'
export * from './client-networks.ts'
export * from './client-prefixes.ts'
export * from './dns-name.ts'
export * from './domain-claim.ts'
export { EDITS_VERSION, type Edit, edited, editsBetween, findingEdits } from './edits.ts'
export * from './entry-hash.ts'
export * from './entry-keys.ts'
export * from './errors.ts'
export * from './health-monitor.ts'
export * from './http-route.ts'
export * from './kinds.ts'
export { listDifference } from './list-difference.ts'
export * from './listener.ts'
export * from './load-balancer.ts'
export * from './network.ts'
export * from './node.ts'
export * from './node-group.ts'
export * from './node-report.ts'
export * from './node-state/index.ts'
export * from './offer.ts'
export * from './ownership.ts'
export * from './parse.ts'
export * from './parse-in-pieces.ts'
export * from './placement.ts'
export * from './pool.ts'
export * from './project.ts'
export * from './protocols.ts'
export { type RouteAuthorizer, routeAuthorizer } from './route-authorizer.ts'
export { type RouteClientRate, routeClientRate } from './route-client-rate.ts'
export * from './route-condition.ts'
export { type RouteFilter, routeFilter } from './route-filter.ts'
export {
  featuresOfRoutes,
  type HostKeyCondition,
  isFiltered,
  isHostKey,
  isPathKey,
  isTested,
  type MethodCondition,
  type PathKeyCondition,
  type TestedCondition,
} from './route-keys.ts'
export { type RouteMirror, routeMirror } from './route-mirror.ts'
export { type RouteRetry, routeRetry } from './route-retry.ts'
export { type RouteTimeouts, routeTimeouts } from './route-timeouts.ts'
export { MOST_MIRRORS, MOST_WILDCARD_LABELS } from './route-words.ts'
export { sameJson } from './same-json.ts'
export * from './scalars.ts'
export * from './secret.ts'
export * from './security-group.ts'
export * from './separate-hosts.ts'
export * from './session-cookie.ts'
export * from './status.ts'
export * from './withdrawal.ts'
