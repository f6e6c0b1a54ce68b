import { createHash } from 'node:crypto'
import {
  type EnrolmentToken,
  enrolmentToken,
  type Node,
  type NodeGroup,
  node,
  nodeGroup,
  parseAs,
  SpoutError,
} from '@spout/model'
import { z } from 'zod'
import type { Admission } from './admission.ts'
import { type AdmissionContext, deleteOf, find, newMeta, putNew, putOver, timestampOf, transact } from './context.ts'
import { nodeAddressWrites } from './node-addresses.ts'
import type { Versioned } from './view.ts'

const groupDraft = nodeGroup.pick({ name: true, description: true, announcer: true })
const tokenDraft = enrolmentToken.pick({ nodeName: true, nodeGroupId: true }).extend({
  ttlSeconds: z
    .number()
    .int()
    .min(1)
    .max(30 * 86_400),
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export async function createNodeGroup(
  context: AdmissionContext,
  wish: Parameters<Admission['createNodeGroup']>[0],
): Promise<NodeGroup> {
  const draft = parseAs(groupDraft, wish)
  return transact(context, (claim) => {
    const taken = context.view.list('nodeGroup').some(({ name }) => name === draft.name)
    if (taken || !claim.name(`nodeGroup/${draft.name}`))
      throw new SpoutError('NameTaken', { field: 'name', what: 'a node group', name: draft.name })
    const created: NodeGroup = { ...draft, ...newMeta(context, draft) }
    return { writes: [putNew('nodeGroup', created)], result: created }
  })
}

export async function createEnrolmentToken(
  context: AdmissionContext,
  wish: Parameters<Admission['createEnrolmentToken']>[0],
): Promise<{ readonly token: EnrolmentToken; readonly secret: string }> {
  const { ttlSeconds, ...draft } = parseAs(tokenDraft, wish)
  const secret = context.random.secret()
  const token = await transact(context, () => {
    if (context.view.get('nodeGroup', draft.nodeGroupId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'nodeGroupId', what: 'node group', id: draft.nodeGroupId })
    const created: EnrolmentToken = {
      ...draft,
      ...newMeta(context, { name: draft.nodeName, description: '' }),
      secretSha256: sha256(secret),
      expiresAt: timestampOf(context.now() + 1000 * ttlSeconds),
      usedAt: null,
    }
    return { writes: [putNew('enrolmentToken', created)], result: created }
  })
  return { token, secret }
}

/**
 * Uses up a token. The certificate is asked for before anything is written, so a failing one leaves the token good;
 * of two that use the same token at once, one is refused.
 */
export async function enrolNode(
  context: AdmissionContext,
  secret: string,
  certificateSha256: (nodeId: string) => Promise<string>,
): Promise<Node> {
  const secretSha256 = sha256(secret)
  const named = usableToken(context, secretSha256).value
  const nodeId = nodeOf(context, named)?.value.id ?? context.random.uuid()
  const certificate = parseAs(node.shape.certificateSha256, await certificateSha256(nodeId), 'certificateSha256')
  return transact(context, (claim) => {
    const token = usableToken(context, secretSha256)
    const present = nodeOf(context, named)
    if (present !== null && present.value.id !== nodeId)
      throw new SpoutError('AlreadyExists', { what: 'node', id: named.nodeName })
    const used: EnrolmentToken = { ...token.value, usedAt: timestampOf(context.now()) }
    const enrolled: Node = present
      ? {
          ...present.value,
          nodeGroupId: named.nodeGroupId,
          certificateSha256: certificate,
          updatedAt: timestampOf(context.now()),
        }
      : {
          ...newMeta(context, { name: named.nodeName, description: '' }),
          id: nodeId,
          nodeGroupId: named.nodeGroupId,
          certificateSha256: certificate,
          scheduling: 'enabled',
          fabricAddress: null,
        }
    const addresses = context.view
      .list('network')
      .flatMap((network) =>
        network.subnets.flatMap((subnet) => nodeAddressWrites(context, claim, network, subnet, [nodeId])),
      )
    const write = present === null ? putNew('node', enrolled) : putOver('node', present, enrolled)
    return { writes: [putOver('enrolmentToken', token, used), write, ...addresses], result: enrolled }
  })
}

/** @throws SpoutError Unauthenticated, with the same words whatever is wrong with a secret nobody was given */
function usableToken(context: AdmissionContext, secretSha256: string): Versioned<EnrolmentToken> {
  const found = context.view.list('enrolmentToken').find((token) => token.secretSha256 === secretSha256)
  const stored = found === undefined ? null : context.view.get('enrolmentToken', found.id)
  if (stored === null) throw new SpoutError('Unauthenticated', { reason: 'the enrolment token is not known' })
  if (stored.value.usedAt !== null)
    throw new SpoutError('Unauthenticated', { reason: 'the enrolment token was used already' })
  if (Date.parse(stored.value.expiresAt) <= context.now())
    throw new SpoutError('TokenExpired', { expiresAt: stored.value.expiresAt })
  return stored
}

function nodeOf(context: AdmissionContext, token: EnrolmentToken): Versioned<Node> | null {
  const found = context.view.list('node').find(({ name }) => name === token.nodeName)
  return found === undefined ? null : context.view.get('node', found.id)
}

export async function setNodeScheduling(
  context: AdmissionContext,
  id: string,
  scheduling: Node['scheduling'],
): Promise<Node> {
  const wanted = parseAs(node.shape.scheduling, scheduling, 'scheduling')
  return transact(context, () => {
    const stored = find(context, 'node', id, 'node')
    if (stored.value.scheduling === wanted) return { writes: [], result: stored.value }
    const next: Node = { ...stored.value, scheduling: wanted, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('node', stored, next)], result: next }
  })
}

/** Deletes a node with its addresses in the tenants' subnets. */
export async function deleteNode(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'node', id, 'node')
    const addresses = context.view
      .list('network')
      .flatMap((network) => network.subnets)
      .flatMap((subnet) => context.ledger.nodeAddress(id, subnet.id) ?? [])
      .flatMap((address) => context.view.get('address', address.id) ?? [])
    return {
      writes: [deleteOf('node', stored), ...addresses.map((address) => deleteOf('address', address))],
      result: undefined,
    }
  })
}
