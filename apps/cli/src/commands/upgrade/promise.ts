/**
 * The oldest version whose programs work beside those of this version, and whose store this version takes over: the
 * release before. A release sets it (tools/release/versions.ts), and moves the pin of e2e/upgrade.e2e.test.ts to it.
 */
export const UPGRADES_FROM = '0.1.0'
