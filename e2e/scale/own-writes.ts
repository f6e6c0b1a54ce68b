import { type Account, callApi } from '@spout/testkit'

/** Reads right after writes of the same client, and which of them did not show the write. */
export interface OwnWrites {
  readonly writes: number
  readonly reads: number
  readonly stale: readonly string[]
}

interface Document {
  readonly id: string
  readonly name: string
  readonly generation: number
}

interface Surroundings {
  readonly endpoint: string
  readonly who: Pick<Account, 'token'>
  readonly poolId: string
}

/**
 * One client creates a load balancer, renames it again and again, and deletes it. After each answer it reads at once,
 * in every possible way: the object, lists by name and whole, and the same through the Octavia API; and it watches from
 * the revision of a list that it read before a write.
 */
export async function writeAndRead(around: Surroundings, name: string, isOver: (round: number) => boolean) {
  const { endpoint, who, poolId } = around
  const api = <T>(method: string, path: string, body?: unknown) => callApi<T>(endpoint, who.token, method, path, body)
  const stale: string[] = []
  let reads = 0
  let writes = 0
  const expectThat = (what: string, is: boolean) => {
    reads++
    if (!is) stale.push(`${name} ${writes}: ${what}`)
  }
  const named = async (wanted: string) =>
    (await api<{ items: readonly Document[] }>('GET', `/load-balancers?name=${wanted}`)).items
  const octavia = async (path: string) => {
    const url = `${endpoint}/load-balancer/v2/lbaas/loadbalancers${path}`
    const answer = await fetch(url, { headers: { 'x-auth-token': who.token } })
    return answer.status === 404
      ? null
      : ((await answer.json()) as { loadbalancer: { name: string } }).loadbalancer.name
  }
  const vips = [{ from: 'pool', poolId }]
  const made = await api<Document>('POST', '/load-balancers', { name, vips, listeners: [], pools: [] })
  writes++
  const path = `/load-balancers/${made.id}`
  expectThat('created, read', (await api<Document>('GET', path)).name === name)
  expectThat(
    'created, listed',
    (await named(name)).some(({ id }) => id === made.id),
  )
  for (let round = 0; !isOver(round); round++) {
    const next = `${name}-${round}`
    const { revision } = await api<{ revision: string }>('GET', '/load-balancers')
    const changed = await api<Document>('PATCH', path, { name: next })
    writes++
    const shown = await api<Document>('GET', path)
    expectThat('changed, read', shown.name === next && shown.generation >= changed.generation)
    expectThat(
      'changed, listed',
      (await named(next)).some(({ id }) => id === made.id),
    )
    expectThat(
      'changed, listed by the name before',
      (await named(round === 0 ? name : `${name}-${round - 1}`)).length === 0,
    )
    expectThat('changed, through Octavia', (await octavia(`/${made.id}`)) === next)
    expectThat('changed, watched from before', await isWatched(around, revision, made.id, next))
  }
  await api('DELETE', path)
  writes++
  expectThat('deleted, read', (await api('GET', path).catch(() => null)) === null)
  const { items } = await api<{ items: readonly Document[] }>('GET', '/load-balancers')
  expectThat('deleted, listed', !items.some(({ id }) => id === made.id))
  expectThat('deleted, through Octavia', (await octavia(`/${made.id}`)) === null)
  return { writes, reads, stale } satisfies OwnWrites
}

/** Whether a watch from a revision before the change shows it: nothing between list and watch is missed. */
async function isWatched({ endpoint, who }: Surroundings, from: string, id: string, name: string): Promise<boolean> {
  const abort = new AbortController()
  const url = `${endpoint}/api/v1/load-balancers?watch=1&from=${encodeURIComponent(from)}`
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(10_000)])
  try {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${who.token}` }, signal })
    let text = ''
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.includes(`"id":"${id}"`) && text.includes(`"name":"${name}"`)) return true
    }
    return false
  } catch {
    return false
  } finally {
    abort.abort()
  }
}
