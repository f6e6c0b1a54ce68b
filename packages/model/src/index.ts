/**
 * The model of intent, a file per kind: schema, defaults, cross-field rules. Also the one error table.
 *
 * It is neutral: terms of Octavia, Kubernetes or the Gateway API stay in their intent's folder. It is pure: no I/O, no
 * state.
 */
export * from './announcers/announce.ts'
export type { AnnouncerDescriptor } from './announcers/announcer.ts'
export { type BgpAnnounce, type GroupBgp, groupBgpSettings } from './announcers/bgp.ts'
export * from './announcers/bgp-peer.ts'
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
export * from './certificates/certificate.ts'
export * from './certificates/secret.ts'
export { EDITS_VERSION, type Edit, edited, editsBetween, findingEdits } from './diff/edits.ts'
export { listDifference } from './diff/list-difference.ts'
export { ListIndex } from './diff/list-index.ts'
export { ListTally } from './diff/list-tally.ts'
export { sameJson } from './diff/same-json.ts'
export * from './health-checks/check-kinds.ts'
export * from './health-checks/health-monitor.ts'
export * from './kinds.ts'
export * from './load-balancers/client-networks.ts'
export * from './load-balancers/client-prefixes.ts'
export * from './load-balancers/drain-preview.ts'
export * from './load-balancers/listener.ts'
export * from './load-balancers/load-balancer.ts'
export { mayUseClass } from './load-balancers/may-use-class.ts'
export * from './load-balancers/offer.ts'
export * from './load-balancers/placement.ts'
export * from './load-balancers/pool.ts'
export * from './load-balancers/preview.ts'
export * from './load-balancers/session-cookie.ts'
export * from './networks/network.ts'
export * from './networks/security-group.ts'
export * from './node-state/entry-hash.ts'
export * from './node-state/entry-keys.ts'
export * from './node-state/index.ts'
export { formatLeaderTerm, LEADER_HEADER, type LeaderTerm, parseLeaderTerm } from './node-state/leader-term.ts'
export { type FeaturedListener, featuresOfListener } from './node-state/listener-features.ts'
export * from './node-state/local-entries.ts'
export { type FeaturedPool, featuresOfPool } from './node-state/pool-features.ts'
export {
  conditionsOfRoutes,
  featuresOfRoutes,
  type HostKeyCondition,
  isFiltered,
  isHostKey,
  isPathKey,
  isTested,
  type MethodCondition,
  type PathKeyCondition,
  type TestedCondition,
} from './node-state/route-keys.ts'
export * from './nodes/fabric-choice.ts'
export * from './nodes/node.ts'
export * from './nodes/node-group.ts'
export * from './parsing/errors.ts'
export * from './parsing/parse.ts'
export * from './parsing/parse-in-pieces.ts'
export * from './projects/domain-claim.ts'
export * from './projects/page-session.ts'
export * from './projects/project.ts'
export * from './reports/audit-record.ts'
export * from './reports/cluster-objects.ts'
export * from './reports/figures.ts'
export * from './reports/load-balancer-row.ts'
export * from './reports/local-report.ts'
export * from './reports/node-report.ts'
export * from './reports/ownership.ts'
export * from './reports/pool-usage.ts'
export * from './reports/problem.ts'
export * from './reports/status.ts'
export * from './reports/withdrawal.ts'
export { type BasicAuthentication, basicAuthentication } from './routes/basic-authentication.ts'
export * from './routes/http-route.ts'
export { type RouteAuthorizer, routeAuthorizer } from './routes/route-authorizer.ts'
export { type RouteClientRate, routeClientRate } from './routes/route-client-rate.ts'
export * from './routes/route-condition.ts'
export { type RouteFilter, routeFilter } from './routes/route-filter.ts'
export { type RouteMirror, routeMirror } from './routes/route-mirror.ts'
export { type RouteRetry, routeRetry } from './routes/route-retry.ts'
export { type RouteTimeouts, routeTimeouts } from './routes/route-timeouts.ts'
export { MOST_MIRRORS, MOST_WILDCARD_LABELS } from './routes/route-words.ts'
export * from './routes/separate-hosts.ts'
export * from './scalars/ciphers.ts'
export * from './scalars/dns-name.ts'
export * from './scalars/protocols.ts'
export * from './scalars/scalars.ts'
