import { uidOf } from '@spout/connector'
import type { Condition, LoadBalancerIngress, ObjectEvent, Service } from '@spout/kube'
import { CONDITION_PROGRAMMED } from '../names.ts'
import { works } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'

/**
 * The addresses that we reported as working, for each Service. They are reported once, however often the Service waits
 * for its nodes. Addresses that a Service shows as working when we first see it were reported by an earlier process.
 */
export class ToldAddresses {
  readonly #byUid = new Map<string, string>()

  /**
   * @param seen the Service before `wanted` was written
   * @param page where the web page shows its load balancer; null for none
   * @returns the event; null when the Service does not work, or that was reported already
   */
  take(seen: Service, wanted: WrittenStatus, page: string | null = null): ObjectEvent | null {
    const uid = uidOf(seen)
    const { conditions = [], loadBalancer } = seen.status ?? {}
    if (!this.#byUid.has(uid) && isProgrammed(conditions)) this.#byUid.set(uid, textOf(loadBalancer?.ingress ?? []))
    const addresses = textOf(wanted.ingress)
    if (!isProgrammed(wanted.conditions) || addresses === '' || this.#byUid.get(uid) === addresses) return null
    this.#byUid.set(uid, addresses)
    return works(addresses, page)
  }

  /** The Service was reported as not working, or is gone. Once it works, that is reported again. */
  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}

const isProgrammed = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ type, status }) => type === CONDITION_PROGRAMMED && status === 'True')

const textOf = (ingress: readonly LoadBalancerIngress[]): string => ingress.flatMap(({ ip }) => ip ?? []).join(', ')
