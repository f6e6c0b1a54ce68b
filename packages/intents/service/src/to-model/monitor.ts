import { type MonitorContent, type OrRefusal, refuse } from '@spout/connector'
import type { Service } from '@spout/kube'
import { KUBE_PROXY_HEALTH_PORT } from '../names.ts'
import { choiceAnnotation, durationAnnotation, fieldOf, numberAnnotation } from './annotations.ts'
import { isLocal, type Mode } from './mode.ts'
import type { BalancedPort } from './ports.ts'

/** How the health of one pool's members is checked. */
export interface MonitorDraft extends MonitorContent {
  /** The port to check; null: the member's own. */
  readonly port: number | null
}

const CHOICES = ['tcp', 'udp', 'sctp', 'ping', 'kube-proxy', 'none'] as const
const DEFAULTS = { intervalMs: 1000, timeoutMs: 800, rise: 2, fall: 3 } as const

/**
 * Chooses the health check. TCP ports are checked by a connection, SCTP endpoints by whether they would accept an
 * association. With `externalTrafficPolicy: Local` and node ports, only `healthCheckNodePort` of the node tells whether
 * it has endpoints. Other node ports are checked at kube-proxy. Other endpoints are not checked: Kubernetes knows their
 * readiness, and a check of ours could only guess.
 */
export function monitorOf(service: Service, port: BalancedPort, mode: Mode): OrRefusal<MonitorDraft | null> {
  const times = timesOf(service)
  if ('refusal' in times) return times
  const chosen = choiceAnnotation(service, 'monitor', CHOICES)
  if ('refusal' in chosen) return chosen
  const plain = { ...times.value, path: null, port: null }
  const asked = (checkPort: number): MonitorDraft => ({ ...plain, type: 'http', path: '/healthz', port: checkPort })
  if (mode === 'node-ports' && isLocal(service)) {
    const checkPort = service.spec.healthCheckNodePort ?? 0
    return checkPort > 0
      ? { value: asked(checkPort) }
      : refuse('NoHealthCheckNodePort', 'spec.healthCheckNodePort', 'The API server has not given one yet.')
  }
  const type = chosen.value ?? usualOf(port, mode)
  if (type === 'none') return { value: null }
  if (type !== 'kube-proxy') return { value: { ...plain, type } }
  if (mode === 'node-ports') return { value: asked(KUBE_PROXY_HEALTH_PORT) }
  return refuse('InvalidAnnotation', fieldOf('monitor'), 'kube-proxy can be asked only behind node ports.')
}

function usualOf({ transport }: BalancedPort, mode: Mode): (typeof CHOICES)[number] {
  if (transport === 'tcp') return 'tcp'
  if (mode === 'node-ports') return 'kube-proxy'
  return transport === 'sctp' ? 'sctp' : 'none'
}

function timesOf(service: Service): OrRefusal<Pick<MonitorDraft, 'intervalMs' | 'timeoutMs' | 'rise' | 'fall'>> {
  const delay = durationAnnotation(service, 'monitorDelay', { leastMs: 100, mostMs: 86_400_000 })
  if ('refusal' in delay) return delay
  const timeout = durationAnnotation(service, 'monitorTimeout', { leastMs: 10, mostMs: 86_400_000 })
  if ('refusal' in timeout) return timeout
  const retries = numberAnnotation(service, 'monitorRetries', { least: 1, most: 10 })
  if ('refusal' in retries) return retries
  const intervalMs = delay.value ?? DEFAULTS.intervalMs
  const timeoutMs = timeout.value ?? Math.min(DEFAULTS.timeoutMs, intervalMs)
  if (timeoutMs > intervalMs)
    return refuse('InvalidAnnotation', fieldOf('monitorTimeout'), 'It must not be longer than the delay.')
  return { value: { intervalMs, timeoutMs, rise: DEFAULTS.rise, fall: retries.value ?? DEFAULTS.fall } }
}
