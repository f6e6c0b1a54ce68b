import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Cgroup, probeCgroups } from './cgroup.ts'
import { deleteLink, ensureMacvlan, ensureVeth, ensureVlan, findLink, listLinks, setSysctls } from './links.ts'
import { createNetns, deleteNetns, listNetns, netnsExists, netnsPath, runIn } from './netns.ts'
import { endProcess, startDaemon } from './process.ts'

const name = (suffix: string): string => `spt${process.pid}-${suffix}`

test('namespaces: creating and deleting again changes nothing', async () => {
  const netns = name('ns')
  try {
    expect(await netnsExists(netns)).toBe(false)
    await createNetns(netns)
    await createNetns(netns)
    expect(await netnsExists(netns)).toBe(true)
    expect(await listNetns()).toContain(netns)
    expect((await findLink({ netns, name: 'lo' }))?.up).toBe(true)
    expect(await runIn(netns, ['readlink', '/proc/self/ns/net'])).not.toBe(
      await runIn(null, ['readlink', '/proc/self/ns/net']),
    )
  } finally {
    await deleteNetns(netns)
    await deleteNetns(netns)
  }
  expect(await netnsExists(netns)).toBe(false)
})

test('namespaces: a name that a crash left unbound is made good', async () => {
  const netns = name('stale')
  try {
    await createNetns(name('other'))
    await writeFile(netnsPath(netns), '')
    expect(await netnsExists(netns)).toBe(false)
    await createNetns(netns)
    expect(await netnsExists(netns)).toBe(true)
  } finally {
    await deleteNetns(netns)
    await deleteNetns(name('other'))
  }
})

test('links: veth, macvlan and sysctls, each made twice and removed twice', async () => {
  const [one, other] = [name('l1'), name('l2')]
  try {
    await createNetns(one)
    await createNetns(other)
    const near = { netns: one, name: 'v0' }
    const far = { netns: other, name: 'v0' }
    for (let round = 0; round < 2; round++) await ensureVeth(near, far)
    expect(await findLink(near)).toMatchObject({ kind: 'veth', up: true })
    expect(await findLink(far)).toMatchObject({ kind: 'veth', up: true })

    await setSysctls(one, { 'net.ipv4.ip_forward': 1, 'net.ipv4.conf.v0.rp_filter': 0 })
    expect(await runIn(one, ['sysctl', '-n', 'net.ipv4.ip_forward'])).toBe('1\n')
    expect(await runIn(other, ['sysctl', '-n', 'net.ipv4.ip_forward'])).toBe('0\n')

    for (let round = 0; round < 2; round++) await deleteLink(near)
    expect(await findLink(far)).toBeNull()
  } finally {
    await deleteNetns(one)
    await deleteNetns(other)
  }
})

test('links: one end in the namespace of this process, and a macvlan over it', async () => {
  const netns = name('l3')
  const root = { netns: null, name: `spt${process.pid}a`.slice(0, 15) }
  try {
    await createNetns(netns)
    for (let round = 0; round < 2; round++) await ensureVeth({ netns, name: 'up0' }, root)
    for (let round = 0; round < 2; round++) await ensureMacvlan({ netns, name: 'seg0' }, root.name)
    const links = await listLinks(netns)
    expect(links.find((link) => link.name === 'seg0')).toMatchObject({ kind: 'macvlan', up: true })
    expect(links.find((link) => link.name === 'up0')).toMatchObject({ kind: 'veth', up: true })
  } finally {
    await deleteLink(root)
    await deleteNetns(netns)
  }
})

test('names that could be read as something else are refused', async () => {
  await expect(createNetns('../x')).rejects.toThrow(RangeError)
  await expect(createNetns('-x')).rejects.toThrow(RangeError)
  await expect(ensureVeth({ netns: null, name: 'a b' }, { netns: null, name: 'c' })).rejects.toThrow(RangeError)
  await expect(ensureVlan({ netns: null, name: 'v0' }, 'lo', 4095)).rejects.toThrow(RangeError)
  await expect(setSysctls(null, { 'kernel.panic': 1 })).rejects.toThrow(RangeError)
})

test('control groups: limits are in force for what is moved in', async ({ skip }) => {
  const layout = await probeCgroups()
  if (layout === null) return skip('no control groups here')
  const directory = await mkdtemp(join(tmpdir(), 'spt-cgroup-'))
  const group = await Cgroup.create(layout, name('group'), { memoryBytes: 32 << 20, pids: 5, cpus: 0.5 })
  const daemon = await startDaemon(['sleep', '60'], { logFile: join(directory, 'log') })
  try {
    await group.add(daemon.pid)
    expect(await group.pids()).toEqual([daemon.pid])
    const pidsRoot = layout.roots.pids
    if (pidsRoot !== undefined) expect(await readFile(join(pidsRoot, name('group'), 'pids.max'), 'utf8')).toBe('5\n')
    expect(group.unenforced.every((limit) => limit === 'cpus' || limit === 'memoryBytes' || limit === 'pids')).toBe(
      true,
    )
  } finally {
    await endProcess(daemon, 1_000)
    await expect.poll(() => group.remove().then(() => 'removed', String), { timeout: 20_000 }).toBe('removed')
    await group.remove()
    await rm(directory, { recursive: true })
  }
})
