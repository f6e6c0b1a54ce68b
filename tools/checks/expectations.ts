import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * A call that can fail a test: an expectation, a wait with a deadline, or a command whose failure is thrown. Functions
 * of other files are known by these names; functions of the test's own file are followed.
 */
const FAILS = /\b(?:expect\w*|assert\w*|waitFor\w*|until\w*|when\w*|soon|execOk|execFileSync)\b\s*[(.<]/
const TEST = /^([ \t]*)(?:it|test)\b[^\n]*/gm
/** A function at the top of a file or of a `describe`. */
const FUNCTION = /^([ \t]*)(?:async function|function|const) (\w+)[^\n]*/gm

/** The samples in it are such tests. */
const OWN_TEST = 'tools/checks/expectations.test.ts'

/** Every test that expects nothing, and so passes unless something throws, as `file:line: first line`. */
export const testsWithoutExpectation = (root: string): readonly string[] =>
  globSync('{packages,apps,e2e,tools}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**', OWN_TEST] })
    .sort()
    .flatMap((file) => inertTests(readFileSync(path.join(root, file), 'utf8')).map((found) => `${file}:${found}`))

/** @returns `line: first line` of each */
export function inertTests(source: string): readonly string[] {
  const helpers = failingHelpers(source)
  return [...source.matchAll(TEST)]
    .filter((test) => !fails(blockAt(source, test), helpers))
    .map(({ index, 0: line }) => `${source.slice(0, index).split('\n').length}: ${line.trim()}`)
}

const fails = (block: string, helpers: ReadonlySet<string>): boolean =>
  FAILS.test(block) || [...block.matchAll(/\b(\w+)\s*[(<]/g)].some(([, name = '']) => helpers.has(name))

/** The functions of the file that fail a test, directly or through others of the file. */
function failingHelpers(source: string): ReadonlySet<string> {
  const blocks = [...source.matchAll(FUNCTION)].map((found) => [found[2] ?? '', blockAt(source, found)] as const)
  const failing = new Set<string>()
  for (let before = -1; before < failing.size; ) {
    before = failing.size
    for (const [name, block] of blocks) if (fails(block, failing)) failing.add(name)
  }
  return failing
}

/** The next declaration or test. It ends a block that is indented as much, or more. */
const NEXT = String.raw`(?:it|test|describe|before\w+|after\w+|async function|function|const|class|interface|type|export)\b`

/** The text from a first line to the next declaration or test outside of it. The formatter indents those inside. */
function blockAt(source: string, { index, 0: first, 1: indent = '' }: RegExpExecArray): string {
  const rest = source.slice(index + first.length)
  const end = rest.search(new RegExp(`\\n[ \\t]{0,${indent.length}}${NEXT}`))
  return first + (end < 0 ? rest : rest.slice(0, end))
}
