import { expect, test } from 'vitest'
import { packed } from './packed.ts'
import { FORMAT, rootOf } from './root.ts'

const recordOf = (format: object) => ({
  apiVersion: 'spout.dev/v1',
  kind: 'StoreRecord',
  metadata: { name: 'spout-root', resourceVersion: '7' },
  spec: { number: 3, id: 'a', data: packed({ format, storeId: 'abcd', slots: 4, snapshot: null }) },
})

test('a store whose format only a newer program can use is refused, naming both versions', async () => {
  const newer = { version: FORMAT.version + 2, usableFrom: FORMAT.version + 1 }
  await expect(rootOf(recordOf(newer) as never)).rejects.toThrow(
    `usable from version ${FORMAT.version + 1} on, and this program knows ${FORMAT.version}`,
  )
})

test('a newer format that this program can use is read, and kept', async () => {
  const newer = { version: FORMAT.version + 2, usableFrom: FORMAT.version }
  expect((await rootOf(recordOf(newer) as never)).format).toEqual(newer)
})
