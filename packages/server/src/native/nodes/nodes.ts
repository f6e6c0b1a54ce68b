import { nodeChange, nodeGroupChange, nodeGroupDraft } from '@spout/admission/contract'
import {
  drainPreview,
  enrolmentToken,
  figures,
  mayUseGroup,
  node,
  publicNodeGroup,
  SpoutError,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import { isAdmin } from '../../authn/access.ts'
import { adminRoutes } from '../operations/admin-routes.ts'
import { askedSpan, SPAN } from '../operations/asked-span.ts'
import { type Collection, find } from '../operations/collection.ts'
import { type Route, route } from '../operations/route.ts'
import { shownEnrolmentToken, shownNode, shownNodeGroup } from '../operations/shown.ts'
import { readRoutes } from '../watches/read-routes.ts'

const NODES: Collection<'node'> = {
  kind: 'node',
  path: '/nodes',
  what: 'Node',
  access: 'admin',
  schema: node,
  visible: isAdmin,
  show: shownNode,
}

export const NODE_GROUPS: Collection<'nodeGroup'> = {
  kind: 'nodeGroup',
  path: '/node-groups',
  what: 'Node group',
  access: 'reader',
  schema: publicNodeGroup,
  visible: (principal, group) => isAdmin(principal) || mayUseGroup(group, principal.projectId),
  show: shownNodeGroup,
}

const publicEnrolmentToken = enrolmentToken.omit({ secretSha256: true, grant: true })

export const ENROLMENT_TOKENS: Collection<'enrolmentToken'> = {
  kind: 'enrolmentToken',
  path: '/enrolment-tokens',
  what: 'Enrolment token',
  access: 'admin',
  schema: publicEnrolmentToken,
  visible: isAdmin,
  show: shownEnrolmentToken,
}

const nodes = adminRoutes(NODES)
const groups = adminRoutes(NODE_GROUPS)

export const nodeRoutes: readonly Route[] = [
  ...readRoutes(NODES),
  route({
    method: 'PUT',
    path: '/nodes/:id/scheduling',
    tag: 'nodes',
    summary: 'Enable, cordon or drain a node',
    access: 'admin',
    body: z.strictObject({ scheduling: node.shape.scheduling }),
    answer: { status: 200, schema: node },
    previews: {
      schema: drainPreview,
      handle: (context, { principal, params, body }) => {
        const { id } = find(NODES, context, principal, params.id ?? '')
        if (body.scheduling === 'draining') return context.plans.forecastDrain(id)
        throw new SpoutError('InvalidField', { field: 'dryRun', reason: 'only draining has a dry run' })
      },
    },
    handle: async (context, { principal, params, body }) => {
      const { id } = find(NODES, context, principal, params.id ?? '')
      return shownNode(context, await context.admission.setNodeScheduling(id, body.scheduling))
    },
  }),
  route({
    method: 'GET',
    path: '/nodes/:id/figures',
    tag: 'nodes',
    summary: 'Show the history of the connections and bytes of all load balancers on a node',
    access: 'admin',
    query: { span: SPAN },
    body: null,
    answer: { status: 200, schema: figures },
    handle: (context, { principal, params, request }) =>
      context.figures.figures(find(NODES, context, principal, params.id ?? '').id, askedSpan(request)),
  }),
  nodes.change('Change a node; absent fields stay', nodeChange, ({ admission }, id, change) =>
    admission.changeNode(id, change),
  ),
  nodes.delete('Remove a node; its certificate is no longer accepted', ({ admission }, id) => admission.deleteNode(id)),
  ...readRoutes(NODE_GROUPS),
  groups.create('Create a node group', nodeGroupDraft, ({ admission }, draft) => admission.createNodeGroup(draft)),
  groups.change('Change a node group; absent fields stay', nodeGroupChange, ({ admission }, id, change) =>
    admission.changeNodeGroup(id, change),
  ),
  groups.delete('Delete a node group that nothing refers to', ({ admission }, id) => admission.deleteNodeGroup(id)),
  ...readRoutes(ENROLMENT_TOKENS),
  route({
    method: 'POST',
    path: '/enrolment-tokens',
    tag: 'enrolment-tokens',
    summary: 'Create a one-time token that enrols one node; `token` is shown once',
    access: 'admin',
    body: z.strictObject({
      nodeName: enrolmentToken.shape.nodeName,
      nodeGroupId: uuid,
      ttlSeconds: z.number().int().min(10).max(604_800).default(3600),
    }),
    answer: { status: 201, schema: publicEnrolmentToken.extend({ token: z.string() }) },
    handle: async (context, { body }) => {
      const { token, secret } = await context.admission.createEnrolmentToken(body)
      return { ...shownEnrolmentToken(context, token), token: `${secret}.${context.linkPin}` }
    },
  }),
]
