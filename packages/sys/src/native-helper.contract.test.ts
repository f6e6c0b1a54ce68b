import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HelperLost } from './helper-protocol/errors.ts'
import type { Log } from './log.ts'
import { NativeHelper } from './native-helper.ts'
import { createNetns, deleteNetns, netnsPath, runIn } from './netns.ts'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { BUILDS, buildHelper, RELEASE } from './testing/native-builds.ts'
import { createSegment } from './testing/segment.ts'

describe.each(BUILDS)('namespaces of the helper, $name build', ({ name, path }) => {
  let on: HelperUnderTest
  beforeAll(async () => {
    on = await startHelperUnderTest(path, `ns-${name[0]}`)
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  test('gets what is asked in one turn in one write', async () => {
    const writes = () => Number(/^syscw: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1])
    const before = writes()
    await Promise.all(Array.from({ length: 50 }, () => on.helper.stats()))
    expect(writes() - before).toBeLessThan(25)
  })

  test('lets go of a namespace whose name went away, and takes its successor', async () => {
    const own = `spt${process.pid}-${name}-gone`
    const at = netnsPath(own)
    try {
      await createNetns(own)
      await on.helper.nftText({ netns: at, text: 'add table ip lb\n' })
      await runIn(own, [
        'ip',
        'link',
        'add',
        'name',
        'pinned0',
        'type',
        'veth',
        'peer',
        'name',
        'pinned1',
        'netns',
        on.segment.near,
      ])
      await on.helper.arpProbe({ netns: at, dev: 'pinned0', address: '192.0.2.1', timeoutMs: 1 }).catch(() => undefined)
      expect(await on.helper.nftGeneration({ family: 'ip', table: 'lb', netns: at })).toMatchObject({ exists: true })
      await deleteNetns(own)
      // The far end of the link disappears only when nothing holds the namespace any more.
      const links = () => runIn(on.segment.near, ['ip', '-br', 'link'])
      await expect.poll(links, { timeout: 10_000 }).not.toContain('pinned1')
      expect(await refusal(on.helper.nftGeneration({ family: 'ip', table: 'lb', netns: at }))).toMatchObject({
        errno: 'ENOENT',
      })
      await createNetns(own)
      expect(await on.helper.nftGeneration({ family: 'ip', table: 'lb', netns: at })).toMatchObject({ exists: false })
    } finally {
      await deleteNetns(own)
    }
  })

  test('refuses a path that is no namespace', async () => {
    expect(await refusal(on.helper.addrList({ netns: '/etc/passwd', dev: 'lo' }))).toMatchObject({ errno: 'EINVAL' })
    expect(await refusal(on.helper.addrList({ netns: '/proc/self/ns/uts', dev: 'lo' }))).toMatchObject({
      errno: 'EINVAL',
    })
    expect(await refusal(on.helper.addrList({ netns: '/run/netns', dev: 'lo' }))).toMatchObject({ errno: 'EINVAL' })
  })
})

describe('a helper that dies', () => {
  beforeAll(buildHelper)

  const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined }
  const { path } = RELEASE

  test('rejects what is in flight, comes back and says so', async () => {
    const helper = await NativeHelper.start({ path, log })
    try {
      const restarted = new Promise<void>((resolve) => helper.onRestart(resolve))
      const first = helper.pid!
      const pending = helper
        .connect({ address: '127.0.0.1', port: 1, timeoutMs: 1_000 })
        .catch((error: unknown) => error)
      const inFlight = helper.stats().catch((error: unknown) => error)
      process.kill(first, 'SIGKILL')
      await Promise.all([pending, inFlight])
      await restarted
      expect(helper.pid).not.toBe(first)
      expect(await helper.stats()).toMatchObject({ transactions: 0 })
    } finally {
      await helper.close()
    }
  })

  test('rejects calls in flight and later ones once closed', async () => {
    const segment = await createSegment('d')
    const helper = await NativeHelper.start({ path, log })
    try {
      const late = helper.connect({ netns: segment.nearPath, address: '10.77.0.99', port: 1, timeoutMs: 60_000 })
      const rejected = expect(late).rejects.toBeInstanceOf(HelperLost)
      await helper.stats()
      await helper.close()
      await rejected
      await expect(helper.stats()).rejects.toBeInstanceOf(HelperLost)
    } finally {
      await helper.close()
      await segment.remove()
    }
  })

  test('does not start what is no helper', async () => {
    await expect(NativeHelper.start({ path: '/nowhere/spout-helper', log })).rejects.toBeInstanceOf(HelperLost)
    await expect(NativeHelper.start({ path: '/bin/cat', log })).rejects.toThrow()
  })
})
