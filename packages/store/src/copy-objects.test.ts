import { expect, test } from 'vitest'
import { put } from './conformance/subject.ts'
import { copyObjects } from './copy-objects.ts'
import { MemoryStore } from './memory/memory-store.ts'

test('objects are copied as they are, into an empty store only', async () => {
  const [from, to] = [new MemoryStore(), new MemoryStore()]
  await from.commit([put('a', { n: 1 }, { scope: 'p1' }), put('b'), put('p1', {}, { kind: 'project' })])
  const kinds = ['node', 'project', 'network']
  expect(await copyObjects(from, to, kinds)).toEqual(
    new Map([
      ['node', 2],
      ['project', 1],
      ['network', 0],
    ]),
  )
  const plain = async (store: MemoryStore) =>
    (await store.list('node')).items.map(({ id, scope, value }) => ({ id, scope, value }))
  expect(await plain(to)).toEqual(await plain(from))
  const before = await to.revision()
  await expect(copyObjects(from, to, kinds)).rejects.toThrow('node a already exists')
  expect(await to.revision()).toBe(before)
  await Promise.all([from.close(), to.close()])
})
