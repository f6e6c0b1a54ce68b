import { type Certificate, certificateUse, parseAs, SpoutError } from '@spout/model'
import { certificatesNamed } from '@spout/plan'
import { SealBroken, type SealingKeys } from '@spout/runtime/sealing-keys'
import { usageOfCertificate } from './certificate-usage.ts'
import type { Claim } from './claims.ts'
import { type AdmissionContext, deleteOf, find, newMeta, putNew, putOver, timestampOf, transact } from './context.ts'
import {
  type CertificateChange,
  type CertificateDraft,
  certificateChange,
  certificateDraft,
  type OpenCertificate,
} from './contract/certificate-admission.ts'
import { readCertificate } from './read-certificate.ts'

export async function createCertificate(context: AdmissionContext, input: CertificateDraft): Promise<Certificate> {
  const { chain, key, ...draft } = parseAs(certificateDraft, input)
  const { content, keyPem } = readCertificate({ chain, key }, context.now())
  return transact(context, (claim) => {
    if (context.view.get('project', draft.projectId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'projectId', what: 'project', id: draft.projectId })
    const meta = newMeta(context, draft)
    const created: Certificate = { ...draft, ...meta, ...content, sealedKey: sealedFor(context, meta.id, keyPem) }
    claimRoom(claim, created)
    return { writes: [putNew('certificate', created)], result: created }
  })
}

export async function changeCertificate(
  context: AdmissionContext,
  id: string,
  input: CertificateChange,
): Promise<Certificate> {
  const { chain, key, ...change } = parseAs(certificateChange, input)
  if (chain === undefined && key !== undefined) throw new SpoutError('MissingField', { field: 'chain' })
  const fresh = chain === undefined ? null : readCertificate({ chain, key }, context.now())
  return transact(context, (claim) => {
    const stored = find(context, 'certificate', id, 'certificate')
    const replaced = fresh === null ? {} : replacement(context, stored.value, fresh)
    const next: Certificate = {
      ...stored.value,
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.description === undefined ? {} : { description: change.description }),
      ...(change.tags === undefined ? {} : { tags: change.tags }),
      ...replaced,
      updatedAt: timestampOf(context.now()),
    }
    claimRoom(claim, next)
    return { writes: [putOver('certificate', stored, next)], result: next }
  })
}

function replacement(
  context: AdmissionContext,
  { id, ...stored }: Certificate,
  { content, keyPem }: ReturnType<typeof readCertificate>,
): Partial<Certificate> {
  const use = certificateUse(stored)
  if (use === 'keyed' && keyPem === null) throw new SpoutError('MissingField', { field: 'key' })
  if (use === 'authorities' && keyPem !== null)
    throw new SpoutError('InvalidField', {
      field: 'key',
      reason: 'is not taken: these are certificates of authorities',
    })
  return { ...content, sealedKey: sealedFor(context, id, keyPem) }
}

export async function deleteCertificate(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, (claim) => {
    const stored = find(context, 'certificate', id, 'certificate')
    const used = context.index.certificateUser(id)
    if (used !== null) {
      const reference = certificatesNamed(used).find((one) => one.id === id)
      const user = `${reference?.user} of load balancer ${used.name || used.id}`
      throw new SpoutError('InUse', { what: 'certificate', id, user })
    }
    if (!claim.leave(`certificate/${id}`))
      throw new SpoutError('InUse', { what: 'certificate', id, user: 'a load balancer that is being written' })
    return { writes: [deleteOf('certificate', stored)], result: undefined }
  })
}

/** @throws SpoutError NotFound; Unavailable when no configured key opens it */
export function openCertificate(context: AdmissionContext, id: string): OpenCertificate {
  const { contentId, chain, sealedKey } = find(context, 'certificate', id, 'certificate').value
  try {
    return { contentId, pem: sealedKey === null ? chain : chain + sealingOf(context).open(sealedKey, id) }
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    throw new SpoutError('Unavailable', {
      what: `The private key of certificate ${id}`,
      reason: 'no configured sealing key opens it',
    })
  }
}

/**
 * Seals anew what older sealing keys sealed, so that they can be removed from the configuration.
 * @returns how many certificates no configured key can open
 */
export async function sealAnew(context: AdmissionContext): Promise<number> {
  const { sealing } = context
  if (sealing === null) return 0
  let closed = 0
  for (const { id, sealedKey } of context.view.list('certificate')) {
    if (sealedKey === null || sealing.isNewest(sealedKey)) continue
    try {
      sealing.open(sealedKey, id)
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      closed++
      continue
    }
    await transact(context, () => {
      const stored = context.view.get('certificate', id)
      const before = stored?.value.sealedKey ?? null
      if (stored === null || before === null || sealing.isNewest(before)) return { writes: [], result: undefined }
      const sealed = sealing.seal(sealing.open(before, id), id)
      return { writes: [putOver('certificate', stored, { ...stored.value, sealedKey: sealed })], result: undefined }
    })
  }
  return closed
}

const claimRoom = (claim: Claim, next: Certificate): void =>
  claim.quota(next.projectId, [{ key: `certificate/${next.id}`, usage: usageOfCertificate(next) }])

/** @throws SpoutError Unavailable if there is a key, and nothing to seal it with */
const sealedFor = (context: AdmissionContext, id: string, keyPem: string | null): string | null =>
  keyPem === null ? null : sealingOf(context).seal(keyPem, id)

function sealingOf({ sealing }: AdmissionContext): SealingKeys {
  if (sealing === null)
    throw new SpoutError('Unavailable', {
      what: 'Certificates',
      reason: 'no key is configured that private keys are sealed with',
    })
  return sealing
}
