import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { must } from '@spout/testkit'
import type { Commit } from '../release/checkout.ts'
import { prepareRelease, tagOf } from '../release/prepare-release.ts'
import { sealed, statementOf } from '../release/provenance.ts'
import { buildRelease, filesOf, writeChecksums } from '../release/release-files.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

const OPTIONS = { key: { type: 'string' }, repository: { type: 'string' }, builder: { type: 'string' } } as const

interface Signing {
  readonly key: string
  readonly repository: string
  readonly builder: string
}

/** `./dev release VERSION` */
export const release: Verb = {
  name: 'release',
  usage: 'VERSION [--key FILE --repository URL --builder URI]',
  summary: 'makes a release: its commit, its tag, and its files with checksums in build/release/VERSION',
  details: [
    'The commit sets the version everywhere and gives the changelog its section. The files are the Debian packages, the image,',
    'the manifests, the chart, the bill of materials, and with --key the signed provenance. Nothing is pushed. Refused: a',
    'checkout with changes, and a version that exists or is not the newest. As root.',
  ].join('\n'),
  async run(args) {
    const { version, signing } = parsed(args)
    const folder = path.join(ROOT, 'build/release', version)
    const at = await prepareRelease(ROOT, version, folder, new Date())
    const unfinished = `${folder}.unfinished`
    rmSync(unfinished, { recursive: true, force: true })
    await buildRelease(ROOT, version, at, unfinished)
    if (signing !== null) seal(unfinished, version, at, signing)
    writeChecksums(unfinished)
    renameSync(unfinished, folder)
    await must(['git', '-C', ROOT, 'tag', '--annotate', '--message', `Version ${version}`, tagOf(version)])
    if (signing === null) process.stderr.write('dev: there is no provenance, since --key is missing\n')
    const files = [...filesOf(folder), 'SHA256SUMS'].map((file) =>
      path.relative(process.cwd(), path.join(folder, file)),
    )
    process.stdout.write(`${files.join('\n')}\n`)
    return 0
  },
}

function seal(folder: string, version: string, { commit }: Commit, { key, repository, builder }: Signing): void {
  const files = new Map(filesOf(folder).map((file) => [file, readFileSync(path.join(folder, file))]))
  const lockFile = readFileSync(path.join(ROOT, 'package-lock.json'))
  const statement = statementOf(files, { commit, repository, builder, lockFile, finishedAt: new Date().toISOString() })
  const file = path.join(folder, `spout-${version}.provenance.json`)
  writeFileSync(file, `${JSON.stringify(sealed(statement, readFileSync(key, 'utf8')))}\n`)
}

function parsed(args: readonly string[]): { readonly version: string; readonly signing: Signing | null } {
  const { values, positionals } = options(args)
  const [version, ...more] = positionals
  if (version === undefined || more.length > 0) throw new UsageError('name one version, such as 1.2.3')
  const { key, repository, builder } = values
  if (key === undefined && repository === undefined && builder === undefined) return { version, signing: null }
  if (key === undefined || repository === undefined || builder === undefined)
    throw new UsageError('--key, --repository and --builder are named together')
  return { version, signing: { key, repository, builder } }
}

function options(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
