import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { type Build, conffiles, controlFile } from './control-file.ts'
import { maintainerScripts } from './maintainer-scripts.ts'
import type { DebianPackage } from './package-table.ts'

const KIBIBYTE = 1024

/**
 * Makes NAME_VERSION_ARCHITECTURE.deb of a package's files.
 * @param tree what stands for `/`; gets the directory `DEBIAN`, and its modes and times are set
 * @param epochSeconds the time of every file in it, so that a commit gives the same bytes whenever it is built
 * @returns the file
 */
export async function debFile(
  one: DebianPackage,
  build: Build,
  tree: string,
  directory: string,
  epochSeconds: number,
): Promise<string> {
  const size = filesBelow(tree).reduce((sum, file) => sum + lstatSync(path.join(tree, file)).size, 0)
  const scripts = maintainerScripts(one)
  const control = new Map([
    ['control', controlFile(one, build, Math.ceil(size / KIBIBYTE))],
    ...(one.service ? [['conffiles', conffiles(one)] as const] : []),
    ...scripts,
  ])
  mkdirSync(path.join(tree, 'DEBIAN'))
  for (const [name, text] of control) writeFileSync(path.join(tree, 'DEBIAN', name), text)
  settle(tree, epochSeconds, new Set([...scripts.keys()].map((name) => `DEBIAN/${name}`)))
  const file = path.join(directory, `${one.name}_${build.version}_${build.architecture}.deb`)
  // One thread: with more, what the compressor writes depends on how many there are.
  const how = ['--root-owner-group', '-Zzstd', '-z9', '--threads-max=1']
  await must(['dpkg-deb', ...how, '--build', tree, file], {
    env: { SOURCE_DATE_EPOCH: String(epochSeconds) },
    timeoutMs: 300_000,
  })
  return file
}

/** Sets modes and times that do not depend on who builds: programs 0755, other files 0644. */
export function settle(tree: string, epochSeconds: number, alsoPrograms: ReadonlySet<string> = new Set()): void {
  for (const file of ['.', ...entriesBelow(tree)]) {
    const at = path.join(tree, file)
    const isProgram = /^usr\/(s?bin\/|lib\/spout\/[^/]+$)/.test(file) || alsoPrograms.has(file)
    chmodSync(at, statSync(at).isDirectory() || isProgram ? 0o755 : 0o644)
    utimesSync(at, epochSeconds, epochSeconds)
  }
}

const entriesBelow = (tree: string): readonly string[] =>
  // Deepest first: a file that is written changes the time of its directory.
  (readdirSync(tree, { recursive: true }) as string[]).sort().reverse()

const filesBelow = (tree: string): readonly string[] =>
  entriesBelow(tree).filter((file) => !statSync(path.join(tree, file)).isDirectory())
