import type { ModelView, Principal } from '@spout/admission/contract'
import type { Secret, SecretContainer } from '@spout/model'
import type { Clock } from '@spout/runtime'
import { KeyManagerFault } from './fault.ts'

interface Known {
  readonly view: ModelView
  readonly clock: Pick<Clock, 'now'>
}

type Owner = Pick<Principal, 'projectId'>

/** The project's secrets that have not expired. Nobody sees secrets of another project, operators included. */
export const secretsOf = ({ view, clock }: Known, { projectId }: Owner): readonly Secret[] =>
  view.list('secret', { projectId: projectId ?? '' }).filter((one) => !isExpired(one, clock.now()))

export function ownSecret({ view, clock }: Known, { projectId }: Owner, id: string): Secret {
  const found = view.get('secret', id)?.value
  if (found === undefined || found.projectId !== projectId || isExpired(found, clock.now()))
    throw new KeyManagerFault(404, 'Secret not found.')
  return found
}

export const containersOf = ({ view }: Known, { projectId }: Owner): readonly SecretContainer[] =>
  view.list('secretContainer', { projectId: projectId ?? '' })

export function ownContainer({ view }: Known, { projectId }: Owner, id: string): SecretContainer {
  const found = view.get('secretContainer', id)?.value
  if (found === undefined || found.projectId !== projectId)
    throw new KeyManagerFault(404, 'Secrets container not found.')
  return found
}

const isExpired = ({ expiresAt }: Secret, now: Date): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now.getTime()
