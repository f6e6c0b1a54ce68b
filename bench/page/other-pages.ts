import { setTimeout as pause } from 'node:timers/promises'
import { callApi, type ReceivedEvents, receiveEvents } from '@spout/testkit'

/** As the page gathers events before it reads anew (`apps/dashboard/src/live`). */
const GATHER_MS = 100

interface Place {
  readonly endpoint: string
  readonly token: string
  /** Of the load balancer. */
  readonly id: string
}

/**
 * What an open page of this load balancer's members asks of the control plane, without drawing it: the stream of events,
 * and after each event about it both lists again. Such pages are on other machines.
 * @returns what closes it
 */
export async function openOtherPage({ endpoint, token, id }: Place): Promise<() => void> {
  const topics = encodeURIComponent(`load-balancers,objects,load-balancer:${id}`)
  const events = await receiveEvents(`${endpoint}/api/v1/events?topics=${topics}`, token)
  const read = (part: string) => callApi<unknown>(endpoint, token, 'GET', `/load-balancers/${id}/${part}`)
  void follow(events, async () => {
    await pause(GATHER_MS)
    await Promise.all([read('explain'), read('member-history')])
  })
  return () => events.close()
}

/** An event that comes while the page reads makes it read once more. */
async function follow(events: ReceivedEvents, reread: () => Promise<void>): Promise<void> {
  let reading: Promise<void> | null = null
  let isStale = false
  const again = async (): Promise<void> => {
    for (isStale = true; isStale; ) {
      isStale = false
      await reread()
    }
    reading = null
  }
  for (let event = await events.next(); event !== null; event = await events.next()) {
    if (event.event !== 'load-balancer') continue
    isStale = true
    reading ??= again()
  }
  await reading
}
