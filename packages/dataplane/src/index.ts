/**
 * What makes node state real: drivers, announcers and checks behind three small contracts, and the domains they work
 * in. A driver knows node state and `sys`; it never hears of Octavia, Kubernetes or the store.
 */
export * from './announcer.ts'
export * from './announcers/l2/l2-announcer.ts'
export * from './check.ts'
export * from './checks/connector.ts'
export * from './checks/http.ts'
export * from './checks/ping.ts'
export * from './checks/probe-plan.ts'
export * from './checks/prober.ts'
export * from './checks/tcp.ts'
export * from './domain/domain-config.ts'
export * from './domain/domain-set.ts'
export * from './driver.ts'
export { HaproxyDriver, type HaproxyDriverOptions, type ProxyPort } from './drivers/haproxy/haproxy-driver.ts'
export type { HaproxyOptions } from './drivers/haproxy/options.ts'
export { type ProxyHost, SystemHost } from './drivers/haproxy/proxy-host.ts'
export { type ProxyPlace, proxyPlaceOf } from './drivers/haproxy/proxy-place.ts'
export { NftablesDriver, type NftablesDriverOptions } from './drivers/nftables/nftables-driver.ts'
export type { FindFrontDoor, FrontDoor } from './drivers/nftables/render.ts'
