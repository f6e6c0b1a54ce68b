import type { OrRefusal } from '@spout/connector'
import type { Service } from '@spout/kube'
import { choiceAnnotation } from './annotations.ts'

/** How the workload is reached: its endpoints themselves, or the nodes' ports and kube-proxy behind them. */
export type Mode = 'direct' | 'node-ports'

export function modeOf(service: Service, configured: Mode): OrRefusal<Mode> {
  const said = choiceAnnotation(service, 'mode', ['direct', 'node-ports'])
  return 'refusal' in said ? said : { value: said.value ?? configured }
}

/** `externalTrafficPolicy: Local`, which is Cluster when left out. */
export const isLocal = ({ spec }: Service): boolean => spec.externalTrafficPolicy === 'Local'
