/**
 * What makes node state real: drivers, announcers and checks behind three small contracts, and the domains they work
 * in. A driver knows node state and `sys`; it never hears of Octavia, Kubernetes or the store.
 */
export * from './announcer.ts'
export * from './check.ts'
export * from './driver.ts'
