import type { Admission, Principal } from '@spout/admission/contract'
import { type Network, SpoutError } from '@spout/model'
import { isAdmin } from '../../authn/access.ts'
import type { NetworkDefaults } from '../operations/context.ts'

type Draft = Parameters<Admission['createNetwork']>[0]

export interface NewNetwork extends Omit<Draft, 'segment' | 'returnPath'> {
  /** Null: the next free one of the control plane's defaults. */
  readonly segment: Draft['segment'] | null
  /** Null: that of the defaults. */
  readonly returnPath: Draft['returnPath'] | null
}

export interface NewNetworkContext {
  readonly admission: Pick<Admission, 'createNetwork'>
  readonly networkDefaults: NetworkDefaults
}

/**
 * Creates a network. Which segments there are, and who has them, only administrators are told: anybody else gets one
 * answer whatever the reason, since another project's network may be it.
 * @throws SpoutError Forbidden when no segment of the defaults can be had; for an administrator with its name
 */
export async function createNetwork(
  { admission, networkDefaults }: NewNetworkContext,
  principal: Principal,
  wanted: NewNetwork,
): Promise<Network> {
  try {
    return await admission.createNetwork({
      ...wanted,
      returnPath: wanted.returnPath ?? networkDefaults.returnPath,
      segment: wanted.segment ?? networkDefaults.segment(),
    })
  } catch (error) {
    if (isAdmin(principal) || !isAboutSegment(error)) throw error
    throw new SpoutError('Forbidden', { reason: "an administrator chooses the segment of this project's networks" })
  }
}

const isAboutSegment = (error: unknown): boolean =>
  error instanceof SpoutError &&
  ((error.code === 'InvalidField' && error.params['field'] === 'segment') ||
    (error.code === 'Unavailable' && error.params['what'] === SEGMENT))

/** What is not available when the defaults have no free segment. */
export const SEGMENT = 'A segment'
