import { type Kubernetes, waitFor } from '@spout/testkit'
import { expect } from 'vitest'
import { askPolitely, type Experience } from './polite-client.ts'
import type { ServiceLab } from './service-lab.ts'
import { type BalancedService, servicesIn } from './services.ts'
import { crash } from './workloads.ts'

/** A Service with what its controller wrote on it. */
export interface OwnedService extends BalancedService {
  readonly metadata: Kubernetes.ObjectMeta & { readonly finalizers?: readonly string[] }
}

/** Services of type LoadBalancer in a namespace. */
export async function balancedServices(
  { cluster }: ServiceLab,
  namespace = 'default',
): Promise<readonly OwnedService[]> {
  const { items } = await cluster.api.list<OwnedService>(servicesIn(namespace))
  return items.filter(({ spec }) => spec.type === 'LoadBalancer')
}

/** Every load balancer with its addresses: equal lists mean that none came, went or moved. */
export async function documents(lab: ServiceLab): Promise<readonly (readonly [string, string])[]> {
  const all = (await lab.loadBalancers()).map(({ id, vips }) => [id, vips.map((vip) => vip.address).join()] as const)
  return all.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** At least so many requests must be answered for an experience to tell anything. */
const FEWEST_REQUESTS = 21

/**
 * Runs `what` while a polite client uses an address; no request may fail. The client goes on a little, so that what is
 * done at once is noticed, too.
 */
export async function unnoticed(lab: ServiceLab, address: string, what: () => Promise<void>): Promise<Experience> {
  const client = askPolitely(lab.client, address)
  try {
    await what()
    await client.goesOn(FEWEST_REQUESTS)
  } finally {
    void client.stop()
  }
  const met = await client.stop()
  expect(met.failed).toEqual([])
  expect(met.count).toBeGreaterThanOrEqual(FEWEST_REQUESTS)
  return met
}

export const noneFailed = ({ count, longestMs }: Experience): string =>
  `0 of ${count} requests failed, longest ${longestMs} ms`

/** Sends this many requests to an address; all must be answered. */
export async function allAnswered(lab: ServiceLab, address: string, times = 30): Promise<boolean> {
  for (let asked = 0; asked < times; asked++) if ((await lab.ask(address)) === null) return false
  return true
}

/**
 * Kills one of the pods. @returns the time until no request reached it any more. Works without an API server and
 * without a control plane.
 */
export async function memberDies(
  lab: ServiceLab,
  address: string,
  pods: readonly Kubernetes.Pod[],
): Promise<{ readonly pod: Kubernetes.Pod; readonly took: string }> {
  const [pod] = pods
  if (pod === undefined) throw new Error('there is no pod')
  await crash(lab, pod)
  const began = performance.now()
  let lastFailed = began
  await waitFor(
    async () => {
      const answered = await allAnswered(lab, address)
      if (!answered) lastFailed = performance.now()
      return answered
    },
    { what: 'the dead pod to be out of rotation' },
  )
  return { pod, took: `${Math.round(lastFailed - began)} ms` }
}

/** Polls until a fault has lasted this long: its duration is what is tested. */
export const untilOver = (began: number, lengthMs: number): Promise<true> =>
  waitFor(() => performance.now() - began > lengthMs, {
    what: `${lengthMs} ms to be over`,
    timeoutMs: lengthMs + 60_000,
    everyMs: 50,
  })

/** The condition that says whether a Service is balanced. */
export const programmed = ({ status }: Pick<BalancedService, 'status'>): Kubernetes.Condition | undefined =>
  status?.conditions?.find(({ type }) => type === 'spout.dev/Programmed')
