import { type Project, SpoutError } from '@spout/model'
import { MemoryStore, type Write } from '@spout/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreView } from './store-view.ts'

const project = (number: number, name = `p${number}`): Project => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  name,
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
  enabled: true,
})
const put = (value: { readonly id: string }): Write => ({
  op: 'put',
  kind: 'project',
  id: value.id,
  scope: null,
  value,
})

let store: MemoryStore
let ended: AbortController
beforeEach(() => {
  store = new MemoryStore()
  ended = new AbortController()
})
afterEach(async () => {
  ended.abort()
  await store.close()
})

describe('StoreView', () => {
  it('shows existing objects and later changes', async () => {
    await store.commit([put(project(2)), put(project(1))])
    const view = await StoreView.open(store, { signal: ended.signal })
    expect(view.list('project').map(({ name }) => name)).toEqual(['p1', 'p2'])
    const { revision } = await store.commit([
      put(project(1, 'renamed')),
      { op: 'delete', kind: 'project', id: project(2).id },
    ])
    await view.caughtUp(revision)
    expect(view.list('project').map(({ name }) => name)).toEqual(['renamed'])
    expect(view.get('project', project(1).id)?.revision).toBe(revision)
  })

  it('reports the changes of a commit together, and a throwing listener', async () => {
    const errors: unknown[] = []
    const view = await StoreView.open(store, { signal: ended.signal, onListenerError: (error) => errors.push(error) })
    const heard = vi.fn()
    view.onChange(() => {
      throw new Error('broken')
    })
    const stop = view.onChange(heard)
    const { revision } = await store.commit([put(project(1)), put(project(2))])
    await view.caughtUp(revision)
    expect(heard.mock.calls).toEqual([[[project(1), project(2)].map(({ id }) => ({ kind: 'project', id }))]])
    expect(errors).toHaveLength(1)
    stop()
    await view.caughtUp((await store.commit([put(project(3))])).revision)
    expect(heard).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['no document', 'nonsense'],
    ['a field too few', { id: project(1).id, name: 'p1' }],
    ['another id', { ...project(2) }],
  ])('leaves out an object that has %s, and reports it', async (_what, value) => {
    await store.commit([{ op: 'put', kind: 'project', id: project(1).id, scope: null, value }, put(project(3))])
    const invalid = vi.fn()
    const view = await StoreView.open(store, { signal: ended.signal, onInvalid: invalid })
    expect(view.list('project')).toEqual([project(3)])
    expect(invalid.mock.calls[0]?.[0]).toEqual({ kind: 'project', id: project(1).id })
  })

  it('shows objects of a later version, without the fields that it added', async () => {
    await store.commit([
      { op: 'put', kind: 'project', id: project(1).id, scope: null, value: { ...project(1), colour: 'red' } },
    ])
    const invalid = vi.fn()
    const view = await StoreView.open(store, { signal: ended.signal, onInvalid: invalid })
    expect(view.list('project')).toEqual([project(1)])
    expect(invalid).not.toHaveBeenCalled()
  })

  it('does not wait for ever for a revision from before it was opened', async () => {
    const { revision } = await store.commit([put(project(1))])
    await store.commit([put(project(2))])
    const view = await StoreView.open(store, { signal: ended.signal })
    await view.caughtUp(revision)
    expect(view.list('project')).toHaveLength(2)
  })

  it('reads everything again when compaction overtook its watch', async () => {
    await store.commit([put(project(1)), put(project(2))])
    const watch = vi.spyOn(store, 'watch')
    const overtaken: ReturnType<MemoryStore['watch']> = {
      [Symbol.asyncIterator]: () => {
        let calls = 0
        return {
          next: async () => {
            if (calls++ === 0) return { done: false, value: { type: 'bookmark', revision: await store.revision() } }
            await store.commit([put(project(3)), { op: 'delete', kind: 'project', id: project(1).id }])
            throw new SpoutError('Gone', { revision: 'x' })
          },
        }
      },
    }
    watch.mockReturnValueOnce(overtaken)
    const view = await StoreView.open(store, { signal: ended.signal })
    await expect.poll(() => view.list('project').map(({ name }) => name)).toEqual(['p2', 'p3'])
    await view.caughtUp((await store.commit([put(project(4))])).revision)
    expect(view.list('project')).toHaveLength(3)
  })

  it.each([
    ['while everything is read again', 'during'],
    ['after everything was read again', 'after'],
  ])('shows a revision that the store tells %s because compaction overtook its watch', async (_what, answered) => {
    const [overtake, read, answer] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    vi.spyOn(store, 'watch').mockImplementationOnce(async function* () {
      yield { type: 'bookmark', revision: await store.revision() }
      await overtake.promise
      throw new SpoutError('Gone', { revision: 'x' })
    })
    const view = await StoreView.open(store, { signal: ended.signal })
    const { revision } = await store.commit([put(project(1))])
    vi.spyOn(store, 'revision').mockImplementationOnce(async () => {
      await answer.promise
      return revision
    })
    const caughtUp = view.caughtUp(revision)
    await store.commit([put(project(2))])
    const list = vi.spyOn(store, 'list')
    list.mockImplementationOnce(async (...words) => {
      await read.promise
      return MemoryStore.prototype.list.apply(store, words)
    })
    overtake.resolve()
    await expect.poll(() => list.mock.calls.length).toBe(1)
    if (answered === 'during') answer.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    read.resolve()
    await expect.poll(() => view.list('project')).toHaveLength(2)
    answer.resolve()
    await caughtUp
    expect(view.list('project')).toHaveLength(2)
    await view.caughtUp((await store.commit([put(project(3))])).revision)
    expect(view.list('project')).toHaveLength(3)
  })

  it('ends with its store', async () => {
    const watch = vi.spyOn(store, 'watch')
    await StoreView.open(store, { signal: ended.signal })
    await store.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(watch).toHaveBeenCalledTimes(1)
  })
})
