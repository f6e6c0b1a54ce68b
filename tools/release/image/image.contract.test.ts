import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must, run } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPackages } from '../packages/build-packages.ts'
import { type BuiltImage, buildImage, type ImageBuild, keptBase } from './build-image.ts'
import { IMAGE } from './description.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')
const AT = { commit: 'c'.repeat(40), committedAt: '2023-11-14T22:13:20Z', epochSeconds: 1_700_000_000 }
const MOST_BYTES = 250e6

interface Index {
  readonly manifests: readonly { readonly digest: string }[]
}
interface Manifest {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly digest: string; readonly size: number }[]
}
interface Config {
  readonly architecture: string
  readonly config: { readonly User: string; readonly Entrypoint: readonly string[] }
  readonly rootfs: { readonly diff_ids: readonly string[] }
}

let directory: string
let build: ImageBuild
let built: BuiltImage
let layout: string
let manifest: Manifest
let config: Config
/** The layers over each other: the file system of a container. */
let root: string

const blob = (digest: string): string => path.join(layout, 'blobs', digest.replace(':', '/'))
const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
const sha256 = (file: string): string => `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-image-'))
  const packages = await buildPackages(
    { root: ROOT, version: '1.2.3', epochSeconds: AT.epochSeconds },
    path.join(directory, 'debs'),
  )
  build = { root: ROOT, packages, version: '1.2.3', bill: '{"bill":1}\n', ...AT, base: keptBase(ROOT) }
  built = await buildImage(build, path.join(directory, 'first'))
  layout = path.join(directory, 'layout')
  root = path.join(directory, 'root')
  for (const each of [layout, root]) mkdirSync(each)
  await must(['tar', '--extract', '--file', built.file, '--directory', layout])
  manifest = json<Manifest>(blob(json<Index>(path.join(layout, 'index.json')).manifests[0]?.digest ?? ''))
  config = json<Config>(blob(manifest.config.digest))
  for (const { digest } of manifest.layers)
    await must(['tar', '--extract', '--gzip', '--keep-directory-symlink', '--file', blob(digest), '--directory', root])
}, 600_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs the image's entry point in its file system, as a user. */
const started = (user: number, ...words: readonly string[]) =>
  run([
    ...['unshare', '--mount', '--pid', '--fork', '--', 'sh', '-c'],
    'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec chroot "$@"',
    ...['sh', root, `--userspec=${user}:${user}`, root, ...IMAGE.entrypoint, ...words],
  ])

test('the same packages give the same image', async () => {
  const again = await buildImage(build, path.join(directory, 'again'))
  expect(sha256(again.file)).toBe(sha256(built.file))
})

test('its documents describe it: digests, sizes, processor', async () => {
  for (const { digest, size } of [...manifest.layers]) {
    expect(sha256(blob(digest))).toBe(digest)
    expect(readFileSync(blob(digest)).length).toBe(size)
  }
  expect(config.rootfs.diff_ids).toHaveLength(2)
  const own = manifest.layers[1]?.digest ?? ''
  const unpacked = await must(['sh', '-c', 'gzip -dc "$1" | sha256sum', 'sh', blob(own)])
  expect(`sha256:${unpacked.split(' ')[0]}`).toBe(config.rootfs.diff_ids[1])
  expect(built.compressedBytes).toBeLessThan(MOST_BYTES)
  const [docker] = json<readonly { readonly RepoTags: readonly string[]; readonly Layers: readonly string[] }[]>(
    path.join(layout, 'manifest.json'),
  )
  expect(docker?.RepoTags).toEqual(['spout:1.2.3'])
  expect(docker?.Layers).toEqual(manifest.layers.map(({ digest }) => `blobs/${digest.replace(':', '/')}`))
})

test('its programs start without root, and the agent does not', async () => {
  expect(config.config).toMatchObject({ User: `${IMAGE.user}:${IMAGE.user}`, Entrypoint: IMAGE.entrypoint })
  const cli = await started(IMAGE.user, 'cli', '--version')
  expect(cli).toMatchObject({ code: 0, stderr: '' })
  for (const program of ['control-plane', 'connector']) {
    const asked = await started(IMAGE.user, program, '--help')
    expect(asked.code, asked.stderr).toBe(0)
  }
  expect(await started(IMAGE.user, 'agent', '--help')).toMatchObject({ code: 2 })
  const agent = await started(0, 'agent', '--help')
  expect(agent.code, agent.stderr).toBe(0)
})

test('it has what the programs start, says what it consists of, and no source of packages', async () => {
  const inRoot = (...words: readonly string[]) => must(['chroot', root, ...words])
  for (const program of ['haproxy -v', 'keepalived --version', 'bird --version', 'nft --version', 'openssl version'])
    await inRoot('sh', '-c', program)
  for (const one of ['helper', 'mover', 'flows', 'syslog', 'passwords'])
    expect(await inRoot('ldd', `/usr/lib/spout/spout-${one}`)).not.toContain('not found')
  expect(readFileSync(path.join(root, 'usr/lib/spout/dashboard/index.html'), 'utf8')).toContain('<div id="page">')
  expect(readFileSync(path.join(root, 'usr/share/doc/spout/sbom.json'), 'utf8')).toBe(build.bill)
  expect(readFileSync(path.join(root, 'var/lib/dpkg/status.d/spout-node'), 'utf8')).toContain('Version: 1.2.3')
  expect((await must(['stat', '--format=%u', path.join(root, 'var/lib/spout')])).trim()).toBe(String(IMAGE.user))
  expect(
    (await inRoot('sh', '-c', 'ls -A /etc/apt/sources.list* /var/lib/apt/lists 2>/dev/null || true')).includes('deb '),
  ).toBe(false)
})
