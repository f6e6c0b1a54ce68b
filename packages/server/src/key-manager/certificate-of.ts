import type { Admission, ModelView, Payload } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import { type Clock, Mutex } from '@spout/runtime'
import { KeyManagerFault } from './fault.ts'
import { type Bundle, type Parts, readBundle, readParts } from './read-bundle.ts'
import { ownContainer, ownSecret } from './scope.ts'

/**
 * Makes sure that a project has a certificate of this id. If it has none, the certificate is made from the secret or
 * the container of the project's key manager that has this id.
 * @throws SpoutError NotFound without any; InvalidField if it is no certificate
 */
export type CertificateOf = (projectId: string, id: string) => Promise<void>

interface Source {
  readonly admission: Pick<Admission, 'createCertificateOf' | 'openSecret'>
  readonly view: ModelView
  readonly clock: Clock
}

export function certificateOf(source: Source): CertificateOf {
  // A project's bundles are read one at a time: each takes a process.
  const turns = new Map<string, Mutex>()
  return async (projectId, id) => {
    if (source.view.get('certificate', id)?.value.projectId === projectId) return
    const turn = turns.get(projectId) ?? new Mutex()
    turns.set(projectId, turn)
    await turn.run(() => make(source, projectId, id))
  }
}

async function make(source: Source, projectId: string, id: string): Promise<void> {
  const { name, bundle } = await found(source, projectId, id)
  await source.admission.createCertificateOf(id, {
    projectId,
    name: name === '' ? `secret ${id}` : name,
    description: 'of the key manager',
    ...bundle,
  })
}

async function found(
  source: Source,
  projectId: string,
  id: string,
): Promise<{ readonly name: string; readonly bundle: Bundle }> {
  const owner = { projectId }
  const payloadOf = (secretId: string): Payload => {
    const payload = source.admission.openSecret(ownSecret(source, owner, secretId).id)
    if (payload === null)
      throw new SpoutError('InvalidField', { field: 'payload', reason: 'has not been uploaded yet' })
    return payload
  }
  try {
    if (source.view.get('secret', id) !== null) {
      const { name } = ownSecret(source, owner, id)
      return { name, bundle: await readBundle(payloadOf(id)) }
    }
    const { name, secrets } = ownContainer(source, owner, id)
    const parts: Parts = Object.fromEntries(secrets.map((one) => [one.name, payloadOf(one.secretId)]))
    return { name, bundle: await readParts(parts) }
  } catch (error) {
    if (error instanceof KeyManagerFault) throw new SpoutError('NotFound', { what: 'secret', id })
    throw error
  }
}
