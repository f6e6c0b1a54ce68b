import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeSeveralProcesses, watching } from '../conformance/several-processes.ts'
import { nextChange, put, remove } from '../conformance/subject.ts'
import { describeStore } from '../conformance.ts'
import type { KubernetesStore, KubernetesStoreOptions } from './kubernetes-store.ts'
import { LABELS, STORE_RECORDS } from './record.ts'
import { NAMESPACE, StoreCluster } from './testing/store-cluster.ts'

let bed: StoreCluster
beforeAll(async () => {
  bed = await StoreCluster.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.[Symbol.asyncDispose]())

describeStore('kubernetes', async (settings) => {
  const name = bed.newName()
  // Few places, so that the log goes round many times.
  const open = () => bed.open({ ...settings, name, slots: 16 })
  let store = await open()
  return {
    store,
    keepsLeases: true,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    dispose: () => store.close(),
  }
})

describeSeveralProcesses('kubernetes', async ({ clock }) => {
  const name = bed.newName()
  return [await bed.open({ name, clock }), await bed.open({ name, clock })]
})

const records = async (name: string, role: string) => {
  const selector = encodeURIComponent(`${LABELS.store}=${name},${LABELS.role}=${role}`)
  const path = `/apis/${STORE_RECORDS.apiVersion}/namespaces/${NAMESPACE}/storerecords?labelSelector=${selector}`
  return (await bed.cluster.api.list<{ metadata: { name: string }; spec: { number: number } }>(path)).items
}

describe('places of the log', () => {
  const opened: KubernetesStore[] = []
  const undo = async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
  }
  const pair = async (options: Partial<KubernetesStoreOptions> = {}) => {
    const name = bed.newName()
    const both = [await bed.open({ name, ...options }), await bed.open({ name, ...options })] as const
    opened.push(...both)
    return [...both, name] as const
  }

  test('the log goes round in its places: snapshots keep everything, and nothing grows', async () => {
    const [a, b, name] = await pair({ slots: 8 })
    for (let n = 0; n < 100; n++) await (n % 3 === 0 ? b : a).commit([put(`o${n % 30}`, n), put(`p${n}`, n)])
    await Promise.all([a.revision(), b.revision()])
    const all = await a.list('node')
    expect(all.items).toHaveLength(130)
    expect(await b.list('node')).toEqual(all)
    await undo()
    expect(await records(name, 'slot')).toHaveLength(8)
    const root = (await records(name, 'root'))[0]
    const parts = await records(name, 'part')
    expect(new Set(parts.map(({ spec }) => spec.number))).toEqual(new Set([root?.spec.number]))
    const again = await bed.open({ name })
    expect(await again.list('node')).toEqual(all)
    await again.close()
  })

  test('a commit that is longer than a record is whole, and gone with the next snapshot', async () => {
    const [a, b, name] = await pair({ slots: 8 })
    const from = await b.revision()
    const values = [noise(1_000_000), noise(100_000)]
    await a.commit(values.map((value, n) => put(`long${n}`, value)))
    await b.revision()
    expect((await b.list('node')).items.map(({ value }) => value)).toEqual(values)
    const seen = watching(b, from)
    expect([await nextChange(seen), await nextChange(seen)]).toEqual(['+long0', '+long1'])
    for (let n = 0; n < 5; n++) await a.commit([remove('long0'), put('long0', values[0])])
    await a.commit([remove('long0'), remove('long1'), put('last')])
    for (let n = 0; n < 20; n++) await a.commit([put('last', n)])
    await undo()
    const parts = await records(name, 'part')
    expect(parts.length).toBeLessThanOrEqual(8)
    const again = await bed.open({ name })
    expect((await again.list('node')).items.map(({ value }) => value)).toEqual([19])
    await again.close()
  })
})

/** Text that does not compress. */
function noise(length: number): string {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(at + 65_536, length)))
  return bytes.toString('base64')
}
