import { SpoutError } from '@spout/model'
import { certificateId, notRetrieved } from '../conversion/convert-tls.ts'
import { OctaviaFault } from '../wire/fault.ts'
import type { OctaviaContext } from './context.ts'

/**
 * Makes certificates from the secrets and containers that references name in the project's key manager.
 * @throws OctaviaFault for a reference that cannot be read, with Octavia's own message
 */
export async function readReferences(
  { certificateOf, options }: Pick<OctaviaContext, 'certificateOf' | 'options'>,
  projectId: string,
  refs: readonly string[],
): Promise<void> {
  // In noop mode, references need not exist.
  if (certificateOf === undefined || options.noop === true) return
  const unknown: string[] = []
  for (const ref of new Set(refs))
    try {
      await certificateOf(projectId, certificateId(ref))
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      if (error.code === 'NotFound') unknown.push(ref)
      else if (error.code === 'InvalidField') throw unreadable(ref, error)
      else throw error
    }
  if (unknown.length > 0) throw notRetrieved(unknown)
}

function unreadable(ref: string, { params: { field, reason } }: SpoutError): OctaviaFault {
  if (field === 'payload')
    return new OctaviaFault(
      400,
      `The PKCS12 bundle is unreadable. Please check the PKCS12 bundle validity. In addition, make sure it does not require a pass phrase. Error: payload ${reason}`,
    )
  return new OctaviaFault(400, `${notRetrieved([ref]).message}: ${field} ${reason}`)
}
