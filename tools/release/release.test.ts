import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must } from '@spout/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { releasedChangelog } from './changelog.ts'
import { commitVersion, debianVersion } from './packages/version.ts'
import { prepareRelease } from './prepare-release.ts'
import { filesOf, writeChecksums } from './release-files.ts'
import { setVersion, versionOf } from './versions.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const PROMISE = 'apps/cli/src/commands/upgrade/promise.ts'
const DAY = new Date('2026-11-28T12:00:00Z')
let root: string

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'spout-release-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const git = (...args: readonly string[]) =>
  must(['git', '-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args])
const write = (file: string, text: string) => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  writeFileSync(path.join(root, file), text)
}
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const folder = () => path.join(root, 'build/release/1.0.0')

/** A checkout with all that a version is written into. */
async function checkout(): Promise<void> {
  write('package.json', '{\n  "name": "spout",\n  "version": "0.9.0"\n}\n')
  write(
    'apps/cli/package.json',
    '{\n  "name": "@spout/app-cli",\n  "version": "0.9.0",\n  "dependencies": {\n    "@spout/net": "0.9.0",\n    "yaml": "0.9.0"\n  }\n}\n',
  )
  write(
    'package-lock.json',
    '{\n  "name": "spout",\n  "version": "0.9.0",\n  "packages": {\n    "": {\n      "version": "0.9.0"\n    },\n    "node_modules/yaml": {\n      "version": "0.9.0"\n    }\n  }\n}\n',
  )
  write('deploy/kubernetes/spout.yaml', 'image: spout:0.9.0\nother: spout:0.9.0-x\n')
  write('.gitignore', '/build/\n')
  write('CHANGELOG.md', '# Changelog\n\n## Not released\n\n- New.\n')
  await git('init', '--quiet')
  await git('config', 'user.name', 't')
  await git('config', 'user.email', 't@example.org')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Start')
}

test('a release is a commit that names the version everywhere, and only where it is ours', async () => {
  await checkout()
  const { commit, committedAt, epochSeconds } = await prepareRelease(root, '1.0.0', folder(), DAY)
  expect(commit).toBe((await git('rev-parse', 'HEAD')).trim())
  expect(epochSeconds).toBe(Date.parse(committedAt) / 1000)
  expect((await git('log', '--format=%s')).trim()).toBe('Version 1.0.0\nStart')
  expect(versionOf(root)).toBe('1.0.0')
  expect(read('apps/cli/package.json')).toContain('"@spout/net": "1.0.0",\n    "yaml": "0.9.0"')
  expect(read('package-lock.json')).toContain('"node_modules/yaml": {\n      "version": "0.9.0"')
  expect(read('deploy/kubernetes/spout.yaml')).toBe('image: spout:1.0.0\nother: spout:0.9.0-x\n')
  expect(read('CHANGELOG.md')).toBe('# Changelog\n\n## Not released\n\n## 1.0.0 (2026-11-28)\n\n- New.\n')
  // What fails later is tried again from there.
  expect((await prepareRelease(root, '1.0.0', folder(), DAY)).commit).toBe(commit)
})

test('what cannot be released is refused, and nothing is changed', async () => {
  await checkout()
  const refused = async (version: string, why: string) => {
    const before = await git('rev-parse', 'HEAD')
    await expect(prepareRelease(root, version, folder(), DAY)).rejects.toThrow(why)
    expect(await git('rev-parse', 'HEAD')).toBe(before)
    expect(versionOf(root)).toBe('0.9.0')
  }
  await refused('1.0', '"1.0" is not a version')
  await git('tag', 'v1.0.0')
  await refused('1.0.0', '1.0.0 exists: its tag is v1.0.0')
  await refused('1.0.0-rc.1', '1.0.0-rc.1 is not newer than 1.0.0')
  await git('tag', '--delete', 'v1.0.0')
  mkdirSync(folder(), { recursive: true })
  await refused('1.0.0', '1.0.0 exists: build/release/1.0.0')
  rmSync(folder(), { recursive: true })
  write('new', 'x')
  await refused('1.0.0', 'the checkout differs from its commit')
})

test('a version of which the changelog says nothing is refused', () => {
  const text = '# Changelog\n\n## Not released\n\n## 0.9.0 (2026-01-01)\n\n- Old.\n'
  expect(() => releasedChangelog(text, '1.0.0', '2026-11-28')).toThrow('says nothing of 1.0.0')
  expect(() => releasedChangelog('# Changelog\n', '1.0.0', '2026-11-28')).toThrow('has no heading')
})

test('this checkout: the version it has changes no byte, another is then nowhere missed', () => {
  for (const part of ['package.json', 'package-lock.json', 'apps', 'packages', 'deploy', 'docs', 'README.md'])
    cpSync(path.join(ROOT, part), path.join(root, part), {
      recursive: true,
      filter: (file) => !/node_modules|\/src\/(?!.*(names|promise)\.ts$).*\.[a-z]+$/.test(file),
    })
  const version = versionOf(root)
  expect(setVersion(root, version)).toEqual([])
  const changed = setVersion(root, '7.7.7')
  expect(changed).toEqual(expect.arrayContaining(['package-lock.json', 'deploy/kubernetes/spout.yaml']))
  expect(changed).toContain('packages/kubernetes-manifests/src/in-cluster/names.ts')
  expect(read(PROMISE)).toContain(`UPGRADES_FROM = '${version}'`)
  expect(changed).toEqual(
    expect.arrayContaining([
      'README.md',
      'deploy/chart/spout/Chart.yaml',
      'deploy/kustomize/example/kustomization.yaml',
    ]),
  )
  expect(changed.map((file) => read(file)).filter((text) => text.includes(`spout_${version}_`))).toEqual([])
  expect(changed.map((file) => read(file)).filter((text) => text.includes(`spout:${version}`))).toEqual([])
  expect(read('package-lock.json')).not.toMatch(new RegExp(`"@spout/[^"]+": "${RegExp.escape(version)}"`))
})

test('a version takes over from the one before, and its candidates from the same', () => {
  const promise = "export const UPGRADES_FROM = '0.8.0'\n"
  write(PROMISE, promise)
  const at = (version: string) => write('package.json', JSON.stringify({ name: 'spout', version }))
  write('package-lock.json', '{"version": "0.9.0", "packages": {}}')
  at('0.9.0-rc.1')
  setVersion(root, '0.9.0')
  expect(read(PROMISE)).toBe(promise)
  setVersion(root, '1.0.0-rc.1')
  expect(read(PROMISE)).toBe("export const UPGRADES_FROM = '0.9.0'\n")
  setVersion(root, '1.0.0')
  expect(read(PROMISE)).toBe("export const UPGRADES_FROM = '0.9.0'\n")
})

test('versions in Debian’s form: commits before their release, candidates before it', async () => {
  const at = { commit: 'abcdef0123456789', committedAt: '2026-11-28T21:49:20+01:00' }
  expect(commitVersion('1.2.0', at)).toBe('1.2.0~20261128204920.abcdef01')
  const order = [commitVersion('1.2.0', at), debianVersion('1.2.0-rc.1'), debianVersion('1.2.0')]
  for (const [lower, higher] of [order.slice(0, 2), order.slice(1)])
    await must(['dpkg', '--compare-versions', lower ?? '', 'lt', higher ?? ''])
})

test('checksums are what sha256sum checks', async () => {
  write('files/b.deb', 'b')
  write('files/a.tar', 'a')
  writeChecksums(path.join(root, 'files'))
  expect(filesOf(path.join(root, 'files'))).toEqual(['a.tar', 'b.deb'])
  const checked = await must(['sh', '-c', `cd "$1" && sha256sum --check SHA256SUMS`, 'sh', path.join(root, 'files')])
  expect(checked).toBe('a.tar: OK\nb.deb: OK\n')
  expect(existsSync(path.join(root, 'files/SHA256SUMS'))).toBe(true)
})
