import { isDeepStrictEqual } from 'node:util'
import type { BackendTlsPolicyObject, PolicyAncestorStatus } from '../objects/backend-tls-policy.ts'
import { CONTROLLER_NAME, GATEWAY_GROUP } from '../objects/names.ts'
import type { JudgedPolicy } from '../to-model/backends/backend-tls.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

const TYPES = ['Accepted', 'ResolvedRefs']
/** The API's limit. */
const MOST_ANCESTORS = 16

/**
 * The entries of a policy's status. We write those for our Gateways that send to its Services; entries of other
 * controllers stay.
 * @param gateways `namespace/name`, sorted
 * @param now RFC 3339, in seconds
 * @param isElsewhere whether a Gateway, by `namespace/name`, belongs to another project, whose controller writes its
 * entry
 */
export function policyAncestors(
  { metadata, status }: Pick<BackendTlsPolicyObject, 'metadata' | 'status'>,
  { refused, unresolved }: JudgedPolicy,
  gateways: readonly string[],
  now: string,
  isElsewhere: (gateway: string) => boolean = () => false,
): readonly PolicyAncestorStatus[] {
  const before = status?.ancestors ?? []
  const foreign = before.filter(
    ({ controllerName, ancestorRef: { namespace = '', name } }) =>
      controllerName !== CONTROLLER_NAME || isElsewhere(`${namespace}/${name}`),
  )
  const own = gateways.map((key): PolicyAncestorStatus => {
    const [namespace = '', name = ''] = key.split('/', 2)
    const ancestorRef = { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }
    const known = before.find(
      (one) => one.controllerName === CONTROLLER_NAME && isDeepStrictEqual(one.ancestorRef, ancestorRef),
    )
    const wanted = [trueUnless('Accepted', refused, 'Accepted'), trueUnless('ResolvedRefs', unresolved, 'ResolvedRefs')]
    return {
      ancestorRef,
      controllerName: CONTROLLER_NAME,
      conditions: mergedConditions(known?.conditions ?? [], wanted, TYPES, metadata.generation ?? 0, now),
    }
  })
  return [...foreign, ...own].slice(0, MOST_ANCESTORS)
}
