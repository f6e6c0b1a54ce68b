import { MOST_SECRET_BYTES, parseAs, type Secret, SpoutError } from '@spout/model'
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
import { type Payload, type SecretDraft, secretDraft } from '../contract/secret-admission.ts'
import { removedOrigin } from './certificates.ts'
import { seal, unseal } from './sealing.ts'

export async function createSecret(context: AdmissionContext, input: SecretDraft): Promise<Secret> {
  const { payload, ...draft } = parseAs(secretDraft, input)
  return transact(context, (claim) => {
    requireProject(context, draft.projectId)
    const meta = newMeta(context, { ...draft, description: '' })
    const created: Secret = { ...meta, ...draft, ...sealed(context, meta.id, payload) }
    claimObjectRoom(claim, 'secret', created)
    return { writes: [putNew('secret', created)], result: created }
  })
}

export const setPayload = (context: AdmissionContext, id: string, payload: Payload): Promise<Secret> =>
  transact(context, (claim) => {
    const stored = find(context, 'secret', id, 'secret')
    if (stored.value.sealedPayload !== null) throw new SpoutError('AlreadyExists', { what: 'payload of secret', id })
    const updatedAt = timestampOf(context.now())
    const next: Secret = { ...stored.value, ...sealed(context, id, payload), updatedAt }
    claimObjectRoom(claim, 'secret', next)
    return { writes: [putOver('secret', stored, next)], result: next }
  })

export const deleteSecret = (context: AdmissionContext, id: string): Promise<void> =>
  transact(context, (claim) => {
    const { view } = context
    const stored = find(context, 'secret', id, 'secret')
    const containers = view
      .list('secretContainer', { projectId: stored.value.projectId })
      .filter(({ secrets }) => secrets.some(({ secretId }) => secretId === id))
      .flatMap((one) => view.get('secretContainer', one.id) ?? [])
    return {
      writes: [
        deleteOf('secret', stored),
        ...removedOrigin(context, claim, id),
        ...containers.map((one) => {
          const secrets = one.value.secrets.filter(({ secretId }) => secretId !== id)
          return putOver('secretContainer', one, { ...one.value, secrets })
        }),
      ],
      result: undefined,
    }
  })

export function openSecret(context: AdmissionContext, id: string): Payload | null {
  const { payloadType, sealedPayload } = find(context, 'secret', id, 'secret').value
  if (payloadType === null || sealedPayload === null) return null
  const base64 = unseal(context, sealedPayload, id, `The payload of secret ${id}`)
  return { type: payloadType, bytes: Buffer.from(base64, 'base64') }
}

function sealed(
  context: AdmissionContext,
  id: string,
  payload: Payload | null,
): Pick<Secret, 'payloadType' | 'sealedPayload'> {
  if (payload === null) return { payloadType: null, sealedPayload: null }
  const { type, bytes } = payload
  if (bytes.length === 0) throw new SpoutError('InvalidField', { field: 'payload', reason: 'must not be empty' })
  if (bytes.length > MOST_SECRET_BYTES) throw new SpoutError('BodyTooLarge', { limitBytes: MOST_SECRET_BYTES })
  return { payloadType: type, sealedPayload: seal(context, bytes.toString('base64'), id) }
}
