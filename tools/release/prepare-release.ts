import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '@spout/testkit'
import { UsageError } from '../dev/verb.ts'
import { releasedChangelog } from './changelog.ts'
import { type Commit, commitOf } from './checkout.ts'
import { debianVersion, isVersion } from './packages/version.ts'
import { setVersion } from './versions.ts'

export const tagOf = (version: string): string => `v${version}`

/**
 * Makes the commit of a release: every file that names the version names this one, and the changelog has its section. A
 * checkout that says all this already gets none, so a release that failed later goes on from where it was.
 * @param folder of the release's files, which must not exist
 * @throws UsageError, before it has changed anything, for a version that exists or is not the newest, and for a checkout
 * with changes
 */
export async function prepareRelease(root: string, version: string, folder: string, today: Date): Promise<Commit> {
  if (!isVersion(version)) throw new UsageError(`${JSON.stringify(version)} is not a version like 1.2.3 or 1.2.3-rc.1`)
  await commitOf(root)
  const tags = (await must(['git', '-C', root, 'tag', '--list', 'v*'])).split('\n').map((tag) => tag.slice(1))
  for (const released of tags.filter(isVersion)) {
    if (released === version) throw new UsageError(`${version} exists: its tag is ${tagOf(version)}`)
    const newer = ['dpkg', '--compare-versions', debianVersion(version), 'gt', debianVersion(released)]
    if ((await run(newer)).code !== 0) throw new UsageError(`${version} is not newer than ${released}`)
  }
  if (existsSync(folder)) throw new UsageError(`${version} exists: ${path.relative(root, folder)}`)

  const file = path.join(root, 'CHANGELOG.md')
  const changelog = readFileSync(file, 'utf8')
  const released = releasedChangelog(changelog, version, today.toISOString().slice(0, 10))
  writeFileSync(file, released)
  const changed = [...setVersion(root, version), ...(released === changelog ? [] : ['CHANGELOG.md'])]
  if (changed.length > 0) {
    const git = (...args: readonly string[]) => must(['git', '-C', root, ...args])
    await git('add', '--', ...changed)
    await git('commit', '--quiet', '--message', `Version ${version}`)
  }
  return commitOf(root)
}
