import { randomUUID } from 'node:crypto'
import type { Principal } from '@spout/admission/contract'
import { parseAs, type SecurityGroup, type SecurityRule, SpoutError, uuid } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listScope, mayKnow, projectForNew, requireRole } from '../authn/access.ts'
import { refuseChosenId } from './chosen-id.ts'
import type { NetworkContext } from './context.ts'
import { listing, narrowed } from './listing.ts'
import { ruleDraft, ruleOf } from './security-rule.ts'
import { shownSecurityGroup, shownSecurityRule } from './shown.ts'

const text = z.string().max(255)

const groupDraft = z.strictObject({
  security_group: z.strictObject({
    id: uuid.optional(),
    name: text.default(''),
    description: text.default(''),
    project_id: uuid.optional(),
    tenant_id: uuid.optional(),
    stateful: z.literal(true).optional(),
  }),
})

const groupChange = z.strictObject({
  security_group: z.strictObject({
    name: text.optional(),
    description: text.optional(),
    stateful: z.literal(true).optional(),
  }),
})

type ById = { Params: { id: string } }

/** Security groups and their rules. They say who may connect to the load balancers that name them. */
export function securityGroupRoutes(scope: FastifyInstance, context: NetworkContext): void {
  groupRoutes(scope, context)
  ruleRoutes(scope, context)
}

function groupRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate, view } = context

  scope.get('/v2.0/security-groups', async (request) => {
    const principal = await authenticate(request)
    return listing(request, 'security_groups', view.list('securityGroup', listScope(principal)).map(shownSecurityGroup))
  })

  scope.get<ById>('/v2.0/security-groups/:id', async (request) => {
    const group = ownGroup(context, await authenticate(request), request.params.id)
    return { security_group: narrowed(request, shownSecurityGroup(group)) }
  })

  scope.post('/v2.0/security-groups', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { id, name, description, ...wanted } = parseAs(groupDraft, request.body).security_group
    refuseChosenId(principal, 'security_group', id)
    const projectId = projectForNew(principal, wanted.project_id ?? wanted.tenant_id)
    const group = await admission.createSecurityGroup({ id, projectId, name, description, tags: [] })
    return reply.code(201).send({ security_group: shownSecurityGroup(group) })
  })

  scope.put<ById>('/v2.0/security-groups/:id', async (request) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { id } = ownGroup(context, principal, request.params.id)
    const { name, description } = parseAs(groupChange, request.body).security_group
    const words = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
    return { security_group: shownSecurityGroup(await admission.changeSecurityGroup(id, () => words)) }
  })

  scope.delete<ById>('/v2.0/security-groups/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    await admission.deleteSecurityGroup(ownGroup(context, principal, request.params.id).id)
    return reply.code(204).send()
  })
}

function ruleRoutes(scope: FastifyInstance, context: NetworkContext): void {
  const { admission, authenticate, view } = context

  scope.get('/v2.0/security-group-rules', async (request) => {
    const groups = view.list('securityGroup', listScope(await authenticate(request)))
    const rules = groups.flatMap((group) => group.rules.map((rule) => shownSecurityRule(group, rule)))
    return listing(request, 'security_group_rules', rules)
  })

  scope.get<ById>('/v2.0/security-group-rules/:id', async (request) => {
    const { group, rule } = ownRule(context, await authenticate(request), request.params.id)
    return { security_group_rule: narrowed(request, shownSecurityRule(group, rule)) }
  })

  scope.post('/v2.0/security-group-rules', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { security_group_rule: wanted } = parseAs(ruleDraft, request.body)
    const { id: groupId } = ownGroup(context, principal, wanted.security_group_id)
    refuseChosenId(principal, 'security_group_rule', wanted.id)
    const rule: SecurityRule = {
      id: wanted.id ?? randomUUID(),
      description: wanted.description ?? '',
      createdAt: new Date().toISOString(),
      ...ruleOf(wanted),
    }
    const group = await admission.changeSecurityGroup(groupId, ({ rules }) => {
      const same =
        rules.find((known) => meaningOf(known) === meaningOf(rule)) ??
        view.list('securityGroup').flatMap((each) => each.rules.filter(({ id }) => id === rule.id))[0]
      if (same !== undefined) throw new SpoutError('AlreadyExists', { what: 'Security group rule', id: same.id })
      return { rules: [...rules, rule] }
    })
    return reply.code(201).send({ security_group_rule: shownSecurityRule(group, rule) })
  })

  scope.delete<ById>('/v2.0/security-group-rules/:id', async (request, reply) => {
    const principal = await authenticate(request)
    requireRole(principal, 'member')
    const { group, rule } = ownRule(context, principal, request.params.id)
    await admission.changeSecurityGroup(group.id, ({ rules }) => ({ rules: rules.filter(({ id }) => id !== rule.id) }))
    return reply.code(204).send()
  })
}

/** Two rules that let in the same are one, as in Neutron. */
const meaningOf = ({ ipVersion, transport, ports, cidr }: SecurityRule): string =>
  JSON.stringify([ipVersion, transport, ports?.first, ports?.last, cidr])

export function ownGroup({ view }: NetworkContext, principal: Principal, id: string): SecurityGroup {
  const found = view.get('securityGroup', id)?.value
  if (found === undefined || !mayKnow(principal, found.projectId))
    throw new SpoutError('NotFound', { what: 'Security Group', id })
  return found
}

function ownRule({ view }: NetworkContext, principal: Principal, id: string) {
  for (const group of view.list('securityGroup', listScope(principal))) {
    const rule = group.rules.find((known) => known.id === id)
    if (rule !== undefined) return { group, rule }
  }
  throw new SpoutError('NotFound', { what: 'Security Group Rule', id })
}
