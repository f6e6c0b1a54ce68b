import { createHash } from 'node:crypto'
import {
  canonicalJson,
  type EnrolmentToken,
  enrolmentToken,
  fabricAddressOf,
  ipText,
  type Node,
  node,
  nodeName,
  parseAs,
  SpoutError,
} from '@spout/model'
import { forbiddenRange, parseIp } from '@spout/net'
import type { Write } from '@spout/store'
import { z } from 'zod'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import type { Admission } from '../contract/admission.ts'
import { type NodeChange, nodeChange } from '../contract/node-admission.ts'
import type { Versioned } from '../contract/view.ts'
import { changedNode } from './changed-node.ts'
import { refuseForeignAddress } from './fabric-claims.ts'
import { nodeAddressWrites } from './node-addresses.ts'

const tokenDraft = enrolmentToken.pick({ nodeName: true, nodeGroupId: true }).extend({
  ttlSeconds: z
    .number()
    .int()
    .min(1)
    .max(30 * 86_400),
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export async function createEnrolmentToken(
  context: AdmissionContext,
  input: Parameters<Admission['createEnrolmentToken']>[0],
): Promise<{ readonly token: EnrolmentToken; readonly secret: string }> {
  const { ttlSeconds, ...draft } = parseAs(tokenDraft, input)
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
      grant: null,
    }
    return { writes: [putNew('enrolmentToken', created)], result: created }
  })
  return { token, secret }
}

/**
 * Uses up a token. The certificate is requested before anything is written, so a failed request leaves the token valid.
 * Of two enrolments that use the same token at once, one is refused. A repeated request is answered again while the
 * node has the certificate of the first answer: not after it was deleted, renewed its certificate or enrolled anew.
 */
export async function enrolNode(
  context: AdmissionContext,
  secret: string,
  certificateSha256: (nodeId: string) => Promise<string>,
  request: string | null,
): Promise<Node> {
  const secretSha256 = sha256(secret)
  const requestSha256 = request === null ? null : sha256(request)
  return enrol(
    context,
    usableToken(context, secretSha256, requestSha256).value,
    certificateSha256,
    (_, certificate) => {
      const token = usableToken(context, secretSha256, requestSha256)
      const grant =
        requestSha256 === null || certificate === null ? null : { requestSha256, certificateSha256: certificate }
      const used: EnrolmentToken = { ...token.value, usedAt: timestampOf(context.now()), grant }
      return { nodeGroupId: token.value.nodeGroupId, writes: [putOver('enrolmentToken', token, used)] }
    },
  )
}

/** Several labels are allowed, because another system chooses the name. */
const namedNode = z.strictObject({ nodeName, nodeGroupId: enrolmentToken.shape.nodeGroupId })

export async function enrolNamedNode(
  context: AdmissionContext,
  input: Parameters<Admission['enrolNamedNode']>[0],
  certificateSha256: (nodeId: string) => Promise<string>,
): Promise<Node> {
  const named = parseAs(namedNode, input)
  return enrol(context, named, certificateSha256, (present) => {
    const nodeGroupId = present?.nodeGroupId ?? named.nodeGroupId
    if (context.view.get('nodeGroup', nodeGroupId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'nodeGroupId', what: 'node group', id: nodeGroupId })
    return { nodeGroupId, writes: [] }
  })
}

/** @param admit runs again in the transaction. It returns the node's group, and further writes */
async function enrol(
  context: AdmissionContext,
  { nodeName }: { readonly nodeName: string },
  certificateSha256: (nodeId: string) => Promise<string>,
  admit: (
    present: Node | null,
    certificateSha256: Node['certificateSha256'],
  ) => { readonly nodeGroupId: string; readonly writes: readonly Write[] },
): Promise<Node> {
  const nodeId = nodeOf(context, nodeName)?.value.id ?? context.random.uuid()
  const certificate = parseAs(node.shape.certificateSha256, await certificateSha256(nodeId), 'certificateSha256')
  return transact(context, (claim) => {
    const present = nodeOf(context, nodeName)
    const { nodeGroupId, writes } = admit(present?.value ?? null, certificate)
    if (present !== null && present.value.id !== nodeId)
      throw new SpoutError('AlreadyExists', { what: 'node', id: nodeName })
    const enrolled: Node = present
      ? { ...present.value, nodeGroupId, certificateSha256: certificate, updatedAt: timestampOf(context.now()) }
      : {
          ...newMeta(context, { name: nodeName, description: '' }),
          id: nodeId,
          nodeGroupId,
          certificateSha256: certificate,
          scheduling: 'enabled',
          schedulingSince: null,
          drainedSince: null,
          fabricAddress: null,
          seenFabricAddress: null,
        }
    const addresses = context.view
      .list('network')
      .flatMap((network) =>
        network.subnets.flatMap((subnet) => nodeAddressWrites(context, claim, network, subnet, [nodeId])),
      )
    const write = present === null ? putNew('node', enrolled) : putOver('node', present, enrolled)
    return { writes: [...writes, write, ...addresses], result: enrolled }
  })
}

/** @throws SpoutError Unauthenticated, with the same text for every kind of invalid secret */
function usableToken(
  context: AdmissionContext,
  secretSha256: string,
  requestSha256: string | null,
): Versioned<EnrolmentToken> {
  const found = context.view.list('enrolmentToken').find((token) => token.secretSha256 === secretSha256)
  const stored = found === undefined ? null : context.view.get('enrolmentToken', found.id)
  if (stored === null) throw new SpoutError('Unauthenticated', { reason: 'the enrolment token is not known' })
  if (stored.value.usedAt !== null && !isAskedAgain(context, stored.value, requestSha256))
    throw new SpoutError('Unauthenticated', { reason: 'the enrolment token was used already' })
  if (Date.parse(stored.value.expiresAt) <= context.now())
    throw new SpoutError('TokenExpired', { expiresAt: stored.value.expiresAt })
  return stored
}

/** Whether this is the request that used the token, and the node still has the certificate that it got for it. */
function isAskedAgain(
  context: AdmissionContext,
  { grant, nodeName }: EnrolmentToken,
  requestSha256: string | null,
): boolean {
  if (grant == null || grant.requestSha256 !== requestSha256) return false
  return nodeOf(context, nodeName)?.value.certificateSha256 === grant.certificateSha256
}

function nodeOf(context: AdmissionContext, nodeName: string): Versioned<Node> | null {
  const found = context.view.list('node').find(({ name }) => name === nodeName)
  return found === undefined ? null : context.view.get('node', found.id)
}

export async function changeNode(context: AdmissionContext, id: string, input: NodeChange): Promise<Node> {
  const change = parseAs(nodeChange, input)
  return transact(context, () => {
    const stored = find(context, 'node', id, 'node')
    const before = stored.value
    if (change.fabricAddress != null) refuseTakenAddress(context, id, 'fabricAddress', change.fabricAddress)
    if (change.nodeGroupId !== undefined) refuseGroup(context, before, change.nodeGroupId)
    const next = changedNode(before, change)
    const moved = next.scheduling !== before.scheduling
    if (canonicalJson(next) === canonicalJson(before)) return { writes: [], result: before }
    const now = timestampOf(context.now())
    const since = moved ? { schedulingSince: now } : {}
    const drained = moved && next.scheduling === 'draining' ? { drainedSince: now, drainBegunAt: null } : {}
    const written: Node = { ...next, ...since, ...drained, updatedAt: now }
    return { writes: [putOver('node', stored, written)], result: written }
  })
}

/** A node that is in service takes its addresses away from the group that it leaves. */
function refuseGroup({ view }: AdmissionContext, { id, nodeGroupId, scheduling }: Node, wanted: string): void {
  if (view.get('nodeGroup', wanted) === null)
    throw new SpoutError('ReferenceNotFound', { field: 'nodeGroupId', what: 'node group', id: wanted })
  if (wanted !== nodeGroupId && scheduling !== 'draining')
    throw new SpoutError('InUse', { what: 'node', id, user: 'its group: drain it first' })
}

/**
 * Stores the fabric address that a node's agent sees. It is refused if another node has it, because neighbours could not
 * tell the two apart, and if it may be somebody else's (`refuseForeignAddress`).
 */
export async function seeFabricAddress(context: AdmissionContext, id: string, address: string): Promise<Node> {
  const seen = parseAs(ipText, address, 'fabricAddress')
  return transact(context, (claim) => {
    const stored = find(context, 'node', id, 'node')
    if (stored.value.seenFabricAddress === seen) return { writes: [], result: stored.value }
    refuseForeignAddress({ fabric: context.fabric, nodes: context.view.list('node') }, stored.value, seen)
    refuseTakenAddress(context, id, 'fabricAddress', seen)
    if (!claim.name(`fabricAddress/${seen}`))
      throw new SpoutError('AddressTaken', { field: 'fabricAddress', address: seen })
    const next: Node = { ...stored.value, seenFabricAddress: seen, updatedAt: timestampOf(context.now()) }
    return { writes: [putOver('node', stored, next)], result: next }
  })
}

function refuseTakenAddress({ view, index }: AdmissionContext, id: string, field: string, address: string): void {
  const why = forbiddenRange(parseIp(address))
  if (why !== null) throw new SpoutError('AddressForbidden', { field, address, reason: why })
  const other = view.list('node').find((node) => node.id !== id && fabricAddressOf(node) === address)
  if (other !== undefined || index.isPublicAddressInUse(address))
    throw new SpoutError('AddressTaken', { field, address })
}

/** Deletes a node with its addresses in the tenants' subnets. */
export async function deleteNode(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const stored = find(context, 'node', id, 'node')
    const peer = context.view.list('bgpPeer').find(({ nodeSelection }) => nodeSelection?.nodeIds.includes(id) === true)
    if (peer !== undefined) throw new SpoutError('InUse', { what: 'node', id, user: `BGP peer ${peer.name}` })
    const addresses = context.view
      .list('network')
      .flatMap((network) => network.subnets)
      .flatMap((subnet) => context.index.nodeAddress(id, subnet.id) ?? [])
      .flatMap((address) => context.view.get('address', address.id) ?? [])
    return {
      writes: [deleteOf('node', stored), ...addresses.map((address) => deleteOf('address', address))],
      result: undefined,
    }
  })
}
