import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { must } from '@spout/testkit'
import { UsageError } from '../dev/verb.ts'
import { type LockFile, packagesOfImage, type Sbom, type Sources } from './sbom.ts'

const git = async (root: string, ...args: readonly string[]): Promise<string> =>
  (await must(['git', '-C', root, ...args])).trim()

/** The commit of a checkout. @throws UsageError when files differ from it, because nobody could build it again */
export async function commitOf(root: string): Promise<{ readonly commit: string; readonly committedAt: string }> {
  const changed = await git(root, 'status', '--porcelain')
  if (changed !== '') throw new UsageError(`the checkout differs from its commit:\n${changed}`)
  const [commit = '', committedAt = ''] = (await git(root, 'log', '-1', '--format=%H %cI')).split(' ')
  return { commit, committedAt }
}

/** The input of a checkout's bill. `npm sbom` (npm 10 or later) reads the lock file, and needs no network. */
export async function sourcesOf(
  root: string,
  at: { readonly commit: string; readonly committedAt: string },
): Promise<Sources> {
  const said = await must(['npm', '--prefix', root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'])
  const read = (file: string) => readFileSync(path.join(root, file))
  const native = globSync(['native/**/*.{c,h}', 'native/Makefile'], { cwd: root, exclude: ['native/build/**'] }).sort()
  return {
    ...at,
    npm: JSON.parse(said) as Sbom,
    lockFile: JSON.parse(read('package-lock.json').toString()) as LockFile,
    debianPackages: packagesOfImage(read('deploy/image/Dockerfile').toString()),
    nativeSources: new Map(native.map((file) => [file, read(file)])),
  }
}
