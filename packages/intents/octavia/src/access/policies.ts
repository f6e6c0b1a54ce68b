import type { Role } from '@spout/model'

/**
 * Octavia's policy sets as tables: how far each role reaches under each rule. The rules are those of Octavia's
 * `octavia/policies`, where `…-global` is the reach `all`.
 */

/** `admin` is for failover, amphorae, flavors and profiles. */
export const RULES = ['read', 'write', 'read-quota', 'write-quota', 'admin'] as const
export type Rule = (typeof RULES)[number]

/** Where a role applies: nowhere, in the caller's project, or in every project. */
export type Reach = 'none' | 'own' | 'all'

type Grants = Readonly<Partial<Record<Rule, Reach>>>

export interface PolicySet {
  /** What every token of a project may do, whatever roles it has. */
  readonly anyRole?: Grants
  readonly roles: Readonly<Partial<Record<Role, Grants>>>
}

const EVERYTHING: Grants = { read: 'all', write: 'all', 'read-quota': 'all', 'write-quota': 'all', admin: 'all' }
const READ_OWN: Grants = { read: 'own', 'read-quota': 'own' }
const WRITE_OWN: Grants = { ...READ_OWN, write: 'own' }

/** `etc/policy/keystone_default_roles-policy.yaml` */
const KEYSTONE_DEFAULT_ROLES: PolicySet['roles'] = {
  admin: EVERYTHING,
  member: WRITE_OWN,
  reader: READ_OWN,
  'load-balancer_admin': { admin: 'all' },
}

/** `etc/policy/octavia-advanced-rbac-policy.yaml` */
const ADVANCED: PolicySet['roles'] = {
  admin: EVERYTHING,
  'load-balancer_admin': EVERYTHING,
  'load-balancer_member': WRITE_OWN,
  'load-balancer_observer': READ_OWN,
  'load-balancer_global_observer': { read: 'all', 'read-quota': 'all' },
  'load-balancer_quota_admin': { 'read-quota': 'all', 'write-quota': 'all' },
}

export const POLICY_SETS = {
  /** What Octavia enforces by default, while it still honours its deprecated rules: both sets below together. */
  'keystone-and-advanced-roles': { roles: { ...KEYSTONE_DEFAULT_ROLES, ...ADVANCED } },
  'keystone-default-roles': { roles: KEYSTONE_DEFAULT_ROLES },
  'advanced-roles': { roles: ADVANCED },
  /** `etc/policy/admin_or_owner-policy.yaml`: the rules from before Octavia had roles. */
  'owner-or-admin': { anyRole: WRITE_OWN, roles: { admin: EVERYTHING, 'load-balancer_admin': EVERYTHING } },
} as const satisfies Readonly<Record<string, PolicySet>>

export type PolicySetName = keyof typeof POLICY_SETS
export const POLICY_SET_NAMES = Object.keys(POLICY_SETS) as readonly PolicySetName[]
export const DEFAULT_POLICY_SET: PolicySetName = 'keystone-and-advanced-roles'

const WIDTH: Readonly<Record<Reach, number>> = { none: 0, own: 1, all: 2 }

/** How far a token with these roles reaches under each rule. The role that reaches farthest counts. */
export function reachOf({ anyRole = {}, roles }: PolicySet, held: readonly Role[]): Readonly<Record<Rule, Reach>> {
  // Role `balancer` is only for the native API. A token that has no other role is refused under every set.
  const onlyBalancer = held.length > 0 && held.every((role) => role === 'balancer')
  const grants = onlyBalancer ? [] : [anyRole, ...held.map((role) => roles[role] ?? {})]
  const farthest = (rule: Rule): Reach =>
    grants.map((grant) => grant[rule] ?? 'none').reduce((a, b) => (WIDTH[a] >= WIDTH[b] ? a : b), 'none')
  return {
    read: farthest('read'),
    write: farthest('write'),
    'read-quota': farthest('read-quota'),
    'write-quota': farthest('write-quota'),
    admin: farthest('admin'),
  }
}
