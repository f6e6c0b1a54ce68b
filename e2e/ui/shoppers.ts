import { askOn, type Caller, type ShownLoadBalancer, waitFor } from '@spout/testkit'
import { vipOf } from '../fixtures.ts'
import type { World } from './world.ts'

/** What each asks for, one after the other: most at once, some that takes a while, and something that is gone. */
const ASKED = [
  ...['/', '/cart', '/download?seconds=0.05', '/', '/hats'],
  ...['/cart', '/download?seconds=0.15', '/', '/old/hat', '/download?seconds=0.02'],
] as const
const PAUSE_MS = 100
/** How many there are, minute by minute: a chart has a point for each minute. */
const MINUTES = [6, 9, 14, 10, 13, 8] as const

/** People who ask a load balancer for one page after the other until they are gone. */
export class Shoppers implements AsyncDisposable {
  readonly #client: Caller
  readonly #address: string
  readonly #there: ReturnType<typeof askOn>[] = []

  constructor(client: Caller, address: string) {
    this.#client = client
    this.#address = address
  }

  /** From now on there are so many. */
  async be(count: number): Promise<void> {
    while (this.#there.length < count) this.#there.push(this.#another(this.#there.length))
    await Promise.all(this.#there.splice(count).map((one) => one.stop()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.be(0)
  }

  #another(first: number): ReturnType<typeof askOn> {
    let at = first
    const next = (): string => ASKED[at++ % ASKED.length] ?? '/'
    return askOn(() => this.#client.http(this.#address, 80, { path: next() }), PAUSE_MS)
  }
}

/** Minutes in which there are more and fewer shoppers, so that the charts of a load balancer have something to show. */
export async function busyMinutes(world: World, shop: ShownLoadBalancer): Promise<Shoppers> {
  const shoppers = new Shoppers(world.client, vipOf(shop))
  try {
    for (const [minute, count] of MINUTES.entries()) {
      await shoppers.be(count)
      await waitFor(async () => (await pointsOf(world, shop)) > minute, {
        ...{ what: `point ${minute + 1} of the charts`, timeoutMs: 150_000, everyMs: 1000 },
      })
    }
  } catch (error) {
    await shoppers[Symbol.asyncDispose]()
    throw error
  }
  return shoppers
}

/** How many points each chart has. */
async function pointsOf({ system, acme }: World, { id }: ShownLoadBalancer): Promise<number> {
  const { series } = await system.api<{ series: Readonly<Record<string, readonly (number | null)[]>> }>(
    ...([acme, 'GET', `/load-balancers/${id}/figures?span=hour`] as const),
  )
  return (series['requestsPerSecond'] ?? []).filter((value) => value !== null).length
}
