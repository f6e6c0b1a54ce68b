import { type Certificate, certificateUse, parseAs, SpoutError } from '@spout/model'
import { certificatesNamed } from '@spout/plan'
import type { Write } from '@spout/store'
import type { Claim } from '../claims/claims.ts'
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
import { claimObjectRoom } from '../claims/object-room.ts'
import { requireProject } from '../claims/projects-of.ts'
import {
  type CertificateChange,
  type CertificateDraft,
  certificateChange,
  certificateDraft,
  type OpenCertificate,
} from '../contract/certificate-admission.ts'
import { readCertificate } from '../pem/read-certificate.ts'
import { hasSameUsers, readUsers } from '../pem/read-users.ts'
import { checkRevocations } from './revocations.ts'
import { seal, unseal } from './sealing.ts'

/** @param originId the secret or container that it is made of, whose id it gets */
export async function createCertificate(
  context: AdmissionContext,
  input: CertificateDraft,
  originId: string | null = null,
): Promise<Certificate> {
  const { chain, key, users, ...draft } = parseAs(certificateDraft, input)
  const read = readContent({ chain, key, users }, context.now())
  if (read === null) throw new SpoutError('MissingField', { field: 'chain' })
  const { content, keyPem } = read
  return transact(context, (claim) => {
    requireProject(context, draft.projectId)
    const made = originId === null ? null : fromOrigin(context, claim, originId, draft.projectId)
    if (made !== null) return { writes: [], result: made }
    const meta = { ...newMeta(context, draft), ...(originId !== null && { id: originId }) }
    const created: Certificate = { ...draft, ...meta, ...content, sealedKey: sealedFor(context, meta.id, keyPem) }
    claimObjectRoom(claim, 'certificate', created)
    return { writes: [putNew('certificate', created)], result: created }
  })
}

/**
 * The certificate that was made of this secret or container before; null if there is none yet.
 * @throws SpoutError NotFound if the project has no such secret or container
 */
function fromOrigin({ view }: AdmissionContext, claim: Claim, originId: string, projectId: string): Certificate | null {
  const origin = view.get('secret', originId) ?? view.get('secretContainer', originId)
  if (origin?.value.projectId !== projectId || !claim.use(`origin/${originId}`))
    throw new SpoutError('NotFound', { what: 'secret', id: originId })
  return view.get('certificate', originId)?.value ?? null
}

export async function changeCertificate(
  context: AdmissionContext,
  id: string,
  input: CertificateChange,
): Promise<Certificate> {
  const { chain, key, users, ...change } = parseAs(certificateChange, input)
  const fresh = readContent({ chain, key, users }, context.now())
  return transact(context, (claim) => {
    const stored = find(context, 'certificate', id, 'certificate')
    if (fresh !== null && (context.view.get('secret', id) ?? context.view.get('secretContainer', id)) !== null)
      throw new SpoutError('InvalidField', {
        field: 'chain',
        reason: 'cannot be changed: it was made of a secret of the key manager',
      })
    const replaced = fresh === null ? {} : replacement(context, stored.value, fresh)
    const next: Certificate = {
      ...stored.value,
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.description === undefined ? {} : { description: change.description }),
      ...(change.tags === undefined ? {} : { tags: change.tags }),
      ...replaced,
      updatedAt: timestampOf(context.now()),
    }
    claimObjectRoom(claim, 'certificate', next)
    return { writes: [putOver('certificate', stored, next)], result: next }
  })
}

/**
 * Reads the content in a request.
 * @returns null if the request has none
 * @throws SpoutError MissingField, InvalidField
 */
function readContent(
  { chain, key, users }: { readonly [Field in 'chain' | 'key' | 'users']?: string | undefined },
  nowMs: number,
): ReturnType<typeof readCertificate> | null {
  if (users !== undefined) {
    const other = chain === undefined ? (key === undefined ? null : 'key') : 'chain'
    if (other !== null)
      throw new SpoutError('InvalidField', { field: 'users', reason: `cannot be combined with ${other}` })
    return readUsers(users, nowMs)
  }
  if (chain === undefined && key !== undefined) throw new SpoutError('MissingField', { field: 'chain' })
  return chain === undefined ? null : readCertificate({ chain, key }, nowMs)
}

const WITHOUT_KEY = {
  authorities: 'certificates of authorities',
  revocations: 'lists of revoked certificates',
} as const

function replacement(
  context: AdmissionContext,
  { id, ...stored }: Certificate,
  { content, keyPem }: ReturnType<typeof readCertificate>,
): Partial<Certificate> {
  const use = certificateUse(stored)
  const isOfUsers = certificateUse({ sealedKey: keyPem, chain: content.chain }) === 'users'
  if (use === 'users' && !isOfUsers) throw new SpoutError('MissingField', { field: 'users' })
  if (use === 'users') return replacedUsers(context, { id, sealedKey: stored.sealedKey }, { content, keyPem })
  if (isOfUsers)
    throw new SpoutError('InvalidField', { field: 'users', reason: 'must be left out: this is no list of users' })
  if (use === 'keyed' && keyPem === null) throw new SpoutError('MissingField', { field: 'key' })
  if (use !== 'keyed' && keyPem !== null)
    throw new SpoutError('InvalidField', { field: 'key', reason: `must be left out for ${WITHOUT_KEY[use]}` })
  if (use !== 'keyed' && certificateUse({ sealedKey: null, chain: content.chain }) !== use)
    throw new SpoutError('InvalidField', { field: 'chain', reason: `must be ${WITHOUT_KEY[use]}, as before` })
  for (const loadBalancer of context.index.certificateUsers(id))
    checkRevocations(loadBalancer, (named) =>
      named === id ? content : (context.view.get('certificate', named)?.value ?? null),
    )
  return { ...content, sealedKey: sealedFor(context, id, keyPem) }
}

/** A list with the same users and hashes as before keeps its content id, so that nodes need not fetch it again. */
function replacedUsers(
  context: AdmissionContext,
  { id, sealedKey }: Pick<Certificate, 'id' | 'sealedKey'>,
  { content, keyPem }: ReturnType<typeof readCertificate>,
): Partial<Certificate> {
  const before = sealedKey === null ? '' : unseal(context, sealedKey, id, `The list of users ${id}`)
  if (keyPem !== null && hasSameUsers(before, keyPem)) return {}
  return { ...content, sealedKey: sealedFor(context, id, keyPem) }
}

export async function deleteCertificate(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, (claim) => {
    find(context, 'certificate', id, 'certificate')
    return { writes: removedCertificate(context, claim, id), result: undefined }
  })
}

/** The writes that delete a certificate, if there is one, with its secret or container. @throws SpoutError InUse */
export function removedOrigin(context: AdmissionContext, claim: Claim, id: string): readonly Write[] {
  if (claim.leave(`origin/${id}`)) return removedCertificate(context, claim, id)
  throw new SpoutError('InUse', { what: 'secret', id, user: 'an object that is being written' })
}

/** The writes that delete a certificate, if there is one. @throws SpoutError InUse */
function removedCertificate(context: AdmissionContext, claim: Claim, id: string): readonly Write[] {
  const stored = context.view.get('certificate', id)
  if (stored === null) return []
  const used = context.index.certificateUser(id)
  if (used !== null) {
    const reference = certificatesNamed(used).find((one) => one.id === id)
    const user = `${reference?.user} of load balancer ${used.name || used.id}`
    throw new SpoutError('InUse', { what: 'certificate', id, user })
  }
  if (!claim.leave(`certificate/${id}`))
    throw new SpoutError('InUse', { what: 'certificate', id, user: 'a load balancer that is being written' })
  return [deleteOf('certificate', stored)]
}

/** @throws SpoutError NotFound; Unavailable when no configured key opens it */
export function openCertificate(context: AdmissionContext, id: string): OpenCertificate {
  const { contentId, chain, sealedKey } = find(context, 'certificate', id, 'certificate').value
  const key = sealedKey === null ? '' : unseal(context, sealedKey, id, `The private key of certificate ${id}`)
  return { contentId, pem: chain + key }
}

const sealedFor = (context: AdmissionContext, id: string, keyPem: string | null): string | null =>
  keyPem === null ? null : seal(context, keyPem, id)
