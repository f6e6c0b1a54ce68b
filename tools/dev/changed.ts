import { must, run } from '@spout/testkit'
import { needing, runTimeNeeds } from '../source-graph/run-time-needs.ts'
import { ROOT } from './verb.ts'

/** Files that every test depends on. */
const UNDER_ALL = ['package.json', 'package-lock.json', 'vitest.config.ts', 'tools/apt-packages', 'dev']
/** These tests read the whole repository, so any change affects them. */
const READS_ALL = /^tools\/.*\.test\.ts$/
const IS_TEST = /\.test\.ts$/

/** A program builds the web page of these, so no import leads there from the tests that open it. */
const PAGE = 'apps/dashboard/'
const OPENS_PAGE = /^e2e\/ui\//

/** Files that differ from the main branch, committed or not, including new ones. */
export async function changedFiles(): Promise<readonly string[]> {
  const git = (...args: readonly string[]) => must(['git', '-C', ROOT, ...args])
  const remote = await run(['git', '-C', ROOT, 'rev-parse', '--verify', '--quiet', 'origin/main'])
  const base = (await git('merge-base', 'HEAD', remote.code === 0 ? 'origin/main' : 'main')).trim()
  const said = (await git('diff', '--name-only', base)) + (await git('ls-files', '--others', '--exclude-standard'))
  return said.split('\n').filter(Boolean)
}

/** Test files that a change of these files can break. */
export function testsOf(changed: readonly string[]): readonly string[] {
  const graph = runTimeNeeds(ROOT)
  const tests = [...graph.keys()].filter((file) => IS_TEST.test(file)).sort()
  if (changed.some((file) => UNDER_ALL.includes(file))) return tests
  // The way in which the C programs are built affects all of them.
  const built = changed.some((file) => /^native\/(Makefile|test\/)/.test(file))
  const found = needing(
    graph,
    built ? [...changed, 'native/src/main.c', 'native/mover/main.c', 'native/flows/main.c'] : changed,
  )
  const isPageChanged = changed.some((file) => file.startsWith(PAGE))
  return tests.filter(
    (file) =>
      found.has(file) || (changed.length > 0 && READS_ALL.test(file)) || (isPageChanged && OPENS_PAGE.test(file)),
  )
}
