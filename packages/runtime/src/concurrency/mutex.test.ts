import { expect, it } from 'vitest'
import { Mutex } from './mutex.ts'

it('runs one task at a time in the order given, also after one that failed, and is idle after the last', async () => {
  const mutex = new Mutex()
  const events: string[] = []
  const task = (name: string, error?: Error) => async () => {
    events.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    events.push(`${name} ends`)
    if (error !== undefined) throw error
    return name
  }
  const first = mutex.run(task('first', new Error('no')))
  const second = mutex.run(task('second'))
  await Promise.all([expect(first).rejects.toThrow('no'), mutex.idle()])
  expect(events).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
  expect(await second).toBe('second')
})
