import { SpoutError } from '@spout/model'
import { SealBroken, type SealingKeys } from '@spout/runtime/sealing-keys'
import type { AdmissionContext } from '../claims/context.ts'

type Sealing = Pick<AdmissionContext, 'sealing'>

/** @param owner the id of the object that the text belongs to @throws SpoutError Unavailable without a sealing key */
export const seal = (context: Sealing, text: string, owner: string): string => keysOf(context).seal(text, owner)

/** @param what names the text in the error @throws SpoutError Unavailable when no configured key opens it */
export function unseal(context: Sealing, sealed: string, owner: string, what: string): string {
  try {
    return keysOf(context).open(sealed, owner)
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    throw new SpoutError('Unavailable', { what, reason: 'no configured sealing key opens it' })
  }
}

function keysOf({ sealing }: Sealing): SealingKeys {
  if (sealing !== null) return sealing
  throw new SpoutError('Unavailable', {
    what: 'Certificates',
    reason: 'no sealing key is configured, so private keys cannot be stored',
  })
}
