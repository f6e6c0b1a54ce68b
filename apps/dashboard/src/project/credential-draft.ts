import type { Role } from '@spout/model'

const DAY_MS = 86_400_000

/** How long a credential may be valid; null: until it is deleted. */
export const LIFETIMES: readonly { readonly days: number | null; readonly text: string }[] = [
  { days: 7, text: '7 days' },
  { days: 30, text: '30 days' },
  { days: 90, text: '90 days' },
  { days: 365, text: 'a year' },
  { days: null, text: 'until it is deleted' },
]

/** The time at which a credential that is made now expires. */
export const expiryAfter = (days: number | null, nowMs: number): string | null =>
  days === null ? null : new Date(nowMs + days * DAY_MS).toISOString()

/** Every role that a program needs, the usual one first. */
const PASSED_ON: readonly Role[] = ['member', 'balancer', 'reader', 'admin']

/** The roles that a user with these may give to a credential. Members may make one that only balances. */
export const rolesToPassOn = (own: readonly Role[]): readonly Role[] => [
  ...PASSED_ON.filter((role) => own.includes(role) || (role === 'balancer' && own.includes('member'))),
  ...own.filter((role) => !PASSED_ON.includes(role)),
]

/** Whether the user may have credentials here: who may only balance is told of none. */
export const hasCredentials = (roles: readonly Role[]): boolean => roles.some((role) => role !== 'balancer')
