import { type PolicySpec, policyOf, policySpecOf } from '../resources/l7policy.ts'
import { type RuleSpec, ruleOf, ruleSpecOf } from '../resources/l7rule.ts'
import type { Graph, OctaviaPolicy, OctaviaRule } from '../terms/octavia-resources.ts'
import { notFound, OctaviaFault } from '../wire/fault.ts'
import type { Edit } from '../wire/field.ts'
import type { GraphEdit } from './edit-graph.ts'

/** Rules of one policy: Octavia's limit. */
const MOST_RULES = 100

/** Changes the policies of the listener that has one of them. @throws OctaviaFault 404: it was deleted meanwhile */
function amongPolicies(
  graph: Graph,
  id: string,
  edit: (policies: readonly OctaviaPolicy[]) => readonly OctaviaPolicy[],
): Graph {
  const isOwner = ({ policies }: Graph['listeners'][number]) => policies.some(({ model }) => model.id === id)
  if (!graph.listeners.some(isOwner)) throw notFound('L7 Policy', id)
  return {
    ...graph,
    listeners: graph.listeners.map((listener) =>
      isOwner(listener) ? { ...listener, policies: edit(listener.policies) } : listener,
    ),
  }
}

/** Puts a policy at a position, counted from 1. The policies from there on move by one. */
function placed(policies: readonly OctaviaPolicy[], policy: OctaviaPolicy, position: number | null) {
  const others = policies.filter(({ model }) => model.id !== policy.model.id)
  const before = policies.findIndex(({ model }) => model.id === policy.model.id)
  const at = position === null ? (before === -1 ? others.length : before) : Math.min(position - 1, others.length)
  return others.toSpliced(at, 0, policy)
}

export const addPolicy =
  (spec: PolicySpec): GraphEdit =>
  (graph) => {
    if (!graph.listeners.some(({ model }) => model.id === spec.listenerId))
      throw notFound('Listener', spec.listenerId ?? '')
    return {
      ...graph,
      listeners: graph.listeners.map((listener) =>
        listener.model.id === spec.listenerId
          ? { ...listener, policies: placed(listener.policies, policyOf(spec), spec.position) }
          : listener,
      ),
    }
  }

export const changePolicy =
  (id: string, edit: Edit<PolicySpec>, now: string): GraphEdit =>
  (graph) =>
    amongPolicies(graph, id, (policies) => {
      const edited = edit(policySpecOf(policies.find(({ model }) => model.id === id)!))
      const policy = policyOf(edited)
      return placed(policies, { ...policy, model: { ...policy.model, updatedAt: now } }, edited.position)
    })

export const removePolicy =
  (id: string): GraphEdit =>
  (graph) =>
    amongPolicies(graph, id, (policies) => policies.filter(({ model }) => model.id !== id))

const withRules =
  (policyId: string, edit: (rules: readonly OctaviaRule[]) => readonly OctaviaRule[]): GraphEdit =>
  (graph) =>
    amongPolicies(graph, policyId, (policies) =>
      policies.map((policy) => (policy.model.id === policyId ? { ...policy, rules: edit(policy.rules) } : policy)),
    )

export const addRule = (policyId: string, spec: RuleSpec): GraphEdit =>
  withRules(policyId, (rules) => {
    if (rules.length >= MOST_RULES) throw new OctaviaFault(409, `Too many rules on L7 policy ${policyId}`)
    return [...rules, ruleOf(spec)]
  })

export const changeRule = (policyId: string, id: string, edit: Edit<RuleSpec>, now: string): GraphEdit =>
  withRules(policyId, (rules) => {
    if (!rules.some(({ model }) => model.id === id)) throw notFound('L7 Rule', id)
    return rules.map((rule) => {
      if (rule.model.id !== id) return rule
      const edited = ruleOf(edit(ruleSpecOf(rule)))
      return { ...edited, model: { ...edited.model, updatedAt: now } }
    })
  })

export const removeRule = (policyId: string, id: string): GraphEdit =>
  withRules(policyId, (rules) => rules.filter(({ model }) => model.id !== id))
