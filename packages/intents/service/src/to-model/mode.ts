import type { OrRefusal } from '@spout/connector'
import type { Service } from '@spout/kube'
import { choiceAnnotation } from './annotations.ts'

/** How packets reach the pods: directly at the endpoints, or through node ports and kube-proxy. */
export type Mode = 'direct' | 'node-ports'

export function modeOf(service: Service, configured: Mode): OrRefusal<Mode> {
  const said = choiceAnnotation(service, 'mode', ['direct', 'node-ports'])
  return 'refusal' in said ? said : { value: said.value ?? configured }
}

/** Whether `externalTrafficPolicy` is Local; the default is Cluster. */
export const isLocal = ({ spec }: Service): boolean => spec.externalTrafficPolicy === 'Local'
