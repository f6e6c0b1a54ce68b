import { expect, test } from 'vitest'
import { atOnce, inPieces } from './in-pieces.ts'

function* count(to: number, done: number[] = []): Generator<undefined, number> {
  for (let n = 0; n < to; n++) {
    done.push(n)
    yield
  }
  return to
}

test('long work is done in slices, and others have turns between them', async () => {
  let [nowMs, turns] = [0, 0]
  const done: number[] = []
  const result = await inPieces(
    count(100, done),
    async () => {
      turns++
    },
    () => (nowMs += 0.1),
  )
  expect(result).toBe(100)
  expect(done).toHaveLength(100)
  expect(turns).toBeGreaterThan(10)
})

test('short work never waits', async () => {
  const never = () => Promise.reject(new Error('a turn'))
  await expect(inPieces(count(100), never, () => 0)).resolves.toBe(100)
})

test('an error ends it', async () => {
  function* failing(): Generator<undefined, number> {
    yield
    throw new Error('no')
  }
  await expect(inPieces(failing(), async () => {})).rejects.toThrow('no')
  expect(() => atOnce(failing())).toThrow('no')
  expect(atOnce(count(3))).toBe(3)
})
