import { uidOf } from '@spout/connector'
import type { Condition, LoadBalancerIngress, Service } from '@spout/kube'
import { CONDITION_PROGRAMMED } from '../names.ts'
import { type ServiceEvent, works } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'

/**
 * Which addresses people were told of that they work, by Service: once for each, however often the Service waits for its
 * nodes meanwhile. What a Service shows as working when it is first looked at was told by whoever wrote it.
 */
export class ToldAddresses {
  readonly #byUid = new Map<string, string>()

  /**
   * @param seen the Service before `wanted` was written
   * @returns what to tell; null when it is no news, or it does not work
   */
  take(seen: Service, wanted: WrittenStatus): ServiceEvent | null {
    const uid = uidOf(seen)
    const { conditions = [], loadBalancer } = seen.status ?? {}
    if (!this.#byUid.has(uid) && isProgrammed(conditions)) this.#byUid.set(uid, textOf(loadBalancer?.ingress ?? []))
    const addresses = textOf(wanted.ingress)
    if (!isProgrammed(wanted.conditions) || addresses === '' || this.#byUid.get(uid) === addresses) return null
    this.#byUid.set(uid, addresses)
    return works(addresses)
  }

  /** It was told that the Service does not work, or the Service is gone: that it works is news again. */
  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}

const isProgrammed = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ type, status }) => type === CONDITION_PROGRAMMED && status === 'True')

const textOf = (ingress: readonly LoadBalancerIngress[]): string => ingress.flatMap(({ ip }) => ip ?? []).join(', ')
