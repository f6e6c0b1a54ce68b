import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { UsageError } from '../dev/verb.ts'
import { IMAGE } from './image/description.ts'
import type { LockFile, Sbom, Sources } from './sbom.ts'

const git = async (root: string, ...args: readonly string[]): Promise<string> =>
  (await must(['git', '-C', root, ...args])).trim()

export interface Commit {
  readonly commit: string
  /** RFC 3339. */
  readonly committedAt: string
  /** The same in seconds since 1970: the time of every file that is built from the commit. */
  readonly epochSeconds: number
}

/** The commit of a checkout. @throws UsageError when files differ from it, because nobody could build it again */
export async function commitOf(root: string): Promise<Commit> {
  const changed = await git(root, 'status', '--porcelain')
  if (changed !== '') throw new UsageError(`the checkout differs from its commit:\n${changed}`)
  const [commit = '', committedAt = ''] = (await git(root, 'log', '-1', '--format=%H %cI')).split(' ')
  return { commit, committedAt, epochSeconds: Date.parse(committedAt) / 1000 }
}

/** The input of a checkout's bill. `npm sbom` (npm 10 or later) reads the lock file, and needs no network. */
export async function sourcesOf(
  root: string,
  { commit, committedAt }: Pick<Commit, 'commit' | 'committedAt'>,
): Promise<Sources> {
  const said = await must(['npm', '--prefix', root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'])
  const read = (file: string) => readFileSync(path.join(root, file))
  const native = globSync(['native/**/*.{c,h}', 'native/Makefile'], { cwd: root, exclude: ['native/build/**'] }).sort()
  return {
    commit,
    committedAt,
    npm: JSON.parse(said) as Sbom,
    lockFile: JSON.parse(read('package-lock.json').toString()) as LockFile,
    debianPackages: IMAGE.debianPackages,
    nativeSources: new Map(native.map((file) => [file, read(file)])),
  }
}
