import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { execOk } from './exec.ts'
import { ExitWatch } from './exit-watch.ts'
import { HelperLost } from './helper-protocol/errors.ts'
import { identifyProcess } from './process.ts'
import { startHelperUnderTest } from './testing/helper-under-test.ts'
import { BUILDS } from './testing/native-builds.ts'

const started: ChildProcess[] = []

async function sleeper(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(child, 'spawn')
  started.push(child)
  return child as ChildProcess & { readonly pid: number }
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** A watch, and what it told. */
function watched(helper: ConstructorParameters<typeof ExitWatch>[0]) {
  const told: (number | 'unknown')[] = []
  const watch = new ExitWatch(helper, { onExit: (pid) => told.push(pid), onUnknown: () => told.push('unknown') })
  return { watch, told }
}

describe.each(BUILDS)('ends of processes, $name build', ({ name, path }) => {
  const start = () => startHelperUnderTest(path, `exits-${name[0]}`)

  test('each of several is told once, also of a process that is no child', async () => {
    const on = await start()
    try {
      const { watch, told } = watched(on.helper)
      const child = await sleeper()
      const orphan = Number(await execOk(['sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $!']))
      watch.follow([child.pid, orphan])
      watch.follow([child.pid, orphan])
      expect([child.pid, orphan].map((pid) => watch.tells(pid))).toEqual([true, true])
      // The helper answers in order, so by now it waits.
      await on.helper.stats()
      expect(told).toEqual([])
      process.kill(orphan, 'SIGKILL')
      await expect.poll(() => told).toEqual([orphan])
      expect(await identifyProcess(orphan)).toBeNull()
      expect([child.pid, orphan].map((pid) => watch.tells(pid))).toEqual([true, false])
      child.kill('SIGKILL')
      await expect.poll(() => told).toEqual([orphan, child.pid])
    } finally {
      expect(await on.end()).toEqual([])
    }
  })

  test('one that has ended already is told at once, one that is not followed any more is not', async () => {
    const on = await start()
    try {
      const { watch, told } = watched(on.helper)
      const [left, gone] = [await sleeper(), await sleeper()]
      gone.kill('SIGKILL')
      await once(gone, 'exit')
      watch.follow([left.pid])
      watch.follow([gone.pid])
      expect(watch.tells(left.pid)).toBe(false)
      await expect.poll(() => told).toEqual([gone.pid])
      left.kill('SIGKILL')
      await once(left, 'exit')
      await on.helper.stats()
      expect(told).toEqual([gone.pid])
    } finally {
      expect(await on.end()).toEqual([])
    }
  })

  test('when the helper dies that is told, and its successor is asked', async () => {
    const on = await start()
    try {
      const { watch, told } = watched(on.helper)
      const child = await sleeper()
      watch.follow([child.pid])
      const restarted = new Promise<void>((resolve) => on.helper.onRestart(resolve))
      process.kill(on.helper.pid!, 'SIGKILL')
      await expect.poll(() => told).toEqual(['unknown'])
      expect(watch.tells(child.pid)).toBe(false)
      await restarted
      watch.follow([child.pid])
      expect(watch.tells(child.pid)).toBe(true)
      child.kill('SIGKILL')
      await expect.poll(() => told).toEqual(['unknown', child.pid])
    } finally {
      await on.end()
    }
  })
})

test('where the kernel cannot tell ends, it is asked once', async () => {
  let asked = 0
  const { watch, told } = watched({
    awaitExit: async () => {
      asked++
      throw new Error('pid 7: Function not implemented')
    },
  })
  watch.follow([7])
  await expect.poll(() => told).toEqual(['unknown'])
  watch.follow([7])
  expect(watch.tells(7)).toBe(false)
  expect(asked).toBe(1)
  const lost = watched({ awaitExit: () => Promise.reject(new HelperLost('gone')) })
  lost.watch.follow([7])
  await expect.poll(() => lost.told).toEqual(['unknown'])
})
