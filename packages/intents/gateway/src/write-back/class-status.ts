import { SUPPORTED_FEATURES } from '../names.ts'
import type { GatewayClass } from '../objects/gateway-class.ts'
import { objection } from '../to-model/verdict.ts'
import { mergedConditions, trueUnless } from './conditions.ts'

/** @param now RFC 3339, in seconds */
export function classStatus({ metadata, spec, status }: GatewayClass, now: string): Required<GatewayClass>['status'] {
  const parameters =
    spec.parametersRef === undefined
      ? null
      : objection('InvalidParameters', 'parametersRef: no kind of parameters is known here.')
  const wanted = [trueUnless('Accepted', parameters, 'Accepted')]
  return {
    conditions: mergedConditions(status?.conditions ?? [], wanted, [], metadata.generation ?? 0, now),
    supportedFeatures: SUPPORTED_FEATURES.map((name) => ({ name })),
  }
}
