import { parseAs, type SecretContainer, SpoutError, secretContainer } from '@spout/model'
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
  type SecretContainerChange,
  type SecretContainerDraft,
  secretContainerDraft,
} from '../contract/secret-admission.ts'
import { removedOrigin } from './certificates.ts'

export async function createSecretContainer(
  context: AdmissionContext,
  input: SecretContainerDraft,
): Promise<SecretContainer> {
  const draft = parseAs(secretContainerDraft, input)
  return transact(context, (claim) => {
    requireProject(context, draft.projectId)
    const created: SecretContainer = { ...newMeta(context, { ...draft, description: '' }), ...draft, consumers: [] }
    checkSecrets(context, claim, created)
    claimObjectRoom(claim, 'secretContainer', created)
    return { writes: [putNew('secretContainer', created)], result: created }
  })
}

export const changeSecretContainer = (
  context: AdmissionContext,
  id: string,
  change: SecretContainerChange,
): Promise<SecretContainer> =>
  transact(context, (claim) => {
    const stored = find(context, 'secretContainer', id, 'secret container')
    const updatedAt = timestampOf(context.now())
    const next = parseAs(secretContainer, { ...stored.value, ...change(stored.value), updatedAt })
    checkSecrets(context, claim, next)
    claimObjectRoom(claim, 'secretContainer', next)
    return { writes: [putOver('secretContainer', stored, next)], result: next }
  })

export const deleteSecretContainer = (context: AdmissionContext, id: string): Promise<void> =>
  transact(context, (claim) => {
    const stored = find(context, 'secretContainer', id, 'secret container')
    return {
      writes: [deleteOf('secretContainer', stored), ...removedOrigin(context, claim, id)],
      result: undefined,
    }
  })

function checkSecrets({ view }: AdmissionContext, claim: Claim, { projectId, secrets }: SecretContainer): void {
  for (const [index, { secretId }] of secrets.entries())
    if (view.get('secret', secretId)?.value.projectId !== projectId || !claim.use(`origin/${secretId}`))
      throw new SpoutError('ReferenceNotFound', { field: `secrets[${index}].secretId`, what: 'secret', id: secretId })
}
