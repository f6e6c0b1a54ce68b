import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ChangeLog, type LoggedCommit } from './change-log.ts'

const commit = (sequence: number, ...texts: (string | null)[]): LoggedCommit => ({
  sequence,
  writes: texts.map((text) => ({ kind: 'node', id: 'a', scope: null, text })),
})
/** The sequences after one, as a watch would read them. */
function sequencesAfter(log: ChangeLog, sequence: number): number[] {
  const commit = log.after(sequence)
  return commit === null ? [] : [commit.sequence, ...sequencesAfter(log, commit.sequence)]
}
const plenty = { changes: 1e9, bytes: 1e9 }

describe('ChangeLog', () => {
  test('continues from any place in it', () => {
    const log = new ChangeLog(plenty, 5)
    expect([log.floor, log.head, log.after(5)]).toEqual([5, 5, null])
    for (const sequence of [6, 9, 10]) log.append(commit(sequence, 'x'))
    expect([5, 6, 8, 9, 10].map((sequence) => log.after(sequence)?.sequence)).toEqual([6, 9, 9, 10, undefined])
  })

  test.each([
    ['changes', { changes: 3, bytes: 1e9 }, 1],
    ['bytes', { changes: 1e9, bytes: 6 }, 1],
    ['bytes, when one is too large by itself', { changes: 1e9, bytes: 1 }, 3],
  ])('drops the oldest to keep within its %s', (_, retention, floor) => {
    const log = new ChangeLog(retention, 0)
    log.append(commit(1, 'xx', 'xx'))
    log.append(commit(2, 'xx', null))
    log.append(commit(3, 'xx'))
    expect([log.floor, log.head]).toEqual([floor, 3])
    expect(sequencesAfter(log, floor)).toHaveLength(3 - floor)
  })

  test('counts what values take in memory beside their text', () => {
    const log = new ChangeLog({ changes: 1e9, bytes: 25 }, 0)
    for (const sequence of [1, 2, 3, 4]) {
      const { writes } = commit(sequence, 'xx')
      log.append({ sequence, writes: writes.map((write) => ({ ...write, value: {}, heldBytes: 10 })) })
    }
    expect(sequencesAfter(log, log.floor)).toEqual([3, 4])
  })

  test('whatever is appended and compacted, it reads the same as a plain array', () => {
    const step = fc.oneof(
      fc.record({ append: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ compact: fc.integer({ min: 0, max: 60 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const log = new ChangeLog({ changes: 12, bytes: 1e9 }, 0)
        let model: number[] = []
        let head = 0
        for (const next of steps) {
          if ('append' in next) {
            head += next.append
            log.append(commit(head, ...Array(next.append).fill('x')))
            model.push(head)
          } else {
            log.compact(next.compact)
            model = model.filter((sequence) => sequence > next.compact)
          }
          model = model.filter((sequence) => sequence > log.floor)
          expect(log.head).toBe(head)
          expect(head - log.floor).toBeLessThanOrEqual(12)
          for (let after = log.floor; after <= head; after++)
            expect(sequencesAfter(log, after)).toEqual(model.filter((sequence) => sequence > after))
        }
      }),
    )
  })
})
