import type { Principal } from '@spout/admission/contract'
import { policyForbidden } from '../wire/fault.ts'
import { POLICY_SET_NAMES, POLICY_SETS, type PolicySetName, type Reach, type Rule, reachOf } from './policies.ts'

/** Who calls, and how far the policy set lets them reach. */
export interface Caller extends Principal {
  readonly reach: Readonly<Record<Rule, Reach>>
}

/**
 * What a route requires of its caller, named after OpenStack's default roles. The policy set says which roles qualify.
 */
export type Persona = 'reader' | 'member' | 'quota-reader' | 'quota-admin' | 'admin'

const RULE_OF: Readonly<Record<Persona, Rule>> = {
  reader: 'read',
  member: 'write',
  'quota-reader': 'read-quota',
  'quota-admin': 'write-quota',
  admin: 'admin',
}

const reach = (caller: Caller, persona: Persona): Reach => caller.reach[RULE_OF[persona]]

/** Cache: the callers under each policy set. A token has the same principal object in each of its requests. */
const callers = new Map<PolicySetName, WeakMap<Principal, Caller>>(
  POLICY_SET_NAMES.map((name) => [name, new WeakMap()]),
)

export function callerOf(principal: Principal, set: PolicySetName): Caller {
  const known = callers.get(set)!.get(principal)
  if (known !== undefined) return known
  const caller = { ...principal, reach: reachOf(POLICY_SETS[set], principal.roles) }
  callers.get(set)!.set(principal, caller)
  return caller
}

export const isAdmin = (caller: Caller): boolean => reach(caller, 'admin') === 'all'

/** @throws OctaviaFault 403 for a caller who may do it nowhere, or only in the own project and has none */
export function requireRole(caller: Caller, persona: Persona): void {
  const found = reach(caller, persona)
  if (found === 'none' || (found === 'own' && caller.projectId === null)) throw policyForbidden()
}

/** @throws OctaviaFault 403 for a project that is out of the caller's reach */
export function requireProject(caller: Caller, persona: Persona, projectId: string): void {
  requireRole(caller, persona)
  if (reach(caller, persona) !== 'all' && projectId !== caller.projectId) throw policyForbidden()
}

/**
 * The project that a list is limited to; null for all of them.
 * @throws OctaviaFault 403 for a project that is out of the caller's reach
 */
export function listScope(caller: Caller, persona: Persona, wanted: string | null): string | null {
  requireRole(caller, persona)
  if (wanted !== null) requireProject(caller, persona, wanted)
  return reach(caller, persona) === 'all' ? wanted : caller.projectId
}

/**
 * The project that a new load balancer belongs to.
 * @throws OctaviaFault 403 for a project that is out of the caller's reach
 */
export function ownerOfNew(caller: Caller, wanted: string | null): string {
  const projectId = wanted ?? caller.projectId
  if (projectId === null) throw policyForbidden()
  requireProject(caller, 'member', projectId)
  return projectId
}
