import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { commitOf } from '../release/checkout.ts'
import { type Envelope, type Files, refusalOf, sealed, statementOf } from '../release/provenance.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

const OPTIONS = {
  key: { type: 'string' },
  repository: { type: 'string' },
  builder: { type: 'string' },
  verify: { type: 'string' },
  'public-key': { type: 'string' },
} as const

/** `./dev provenance FILE…` */
export const provenance: Verb = {
  name: 'provenance',
  usage: 'OPTIONS FILE…',
  summary: 'signs what files of a release were built from, or verifies that these are the files',
  details: [
    '--key FILE --repository URL --builder URI FILE…     signs',
    '--verify ENVELOPE --public-key FILE FILE…           verifies',
    '',
    'Prints an in-toto statement with SLSA provenance v1 in a DSSE envelope. The key is Ed25519, in PEM:',
    '  openssl genpkey -algorithm ed25519 -out release.key && openssl pkey -in release.key -pubout -out release.pub',
  ].join('\n'),
  async run(args) {
    const { values, positionals } = parsed(args)
    if (positionals.length === 0) throw new UsageError('name the files of the release')
    const files: Files = new Map(positionals.map((file) => [path.basename(file), readFileSync(file)]))
    if (files.size < positionals.length) throw new UsageError('two files have the same name')
    if (values.verify !== undefined) {
      const envelope = JSON.parse(readFileSync(values.verify, 'utf8')) as Envelope
      const refusal = refusalOf(envelope, files, readFileSync(needed(values, 'public-key'), 'utf8'))
      process.stdout.write(refusal === null ? `${files.size} verified\n` : '')
      if (refusal !== null) process.stderr.write(`dev: ${refusal}\n`)
      return refusal === null ? 0 : 1
    }
    const { commit } = await commitOf(ROOT)
    const statement = statementOf(files, {
      commit,
      repository: needed(values, 'repository'),
      builder: needed(values, 'builder'),
      lockFile: readFileSync(path.join(ROOT, 'package-lock.json')),
      finishedAt: new Date().toISOString(),
    })
    process.stdout.write(`${JSON.stringify(sealed(statement, readFileSync(needed(values, 'key'), 'utf8')))}\n`)
    return 0
  },
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function needed(values: Readonly<Partial<Record<keyof typeof OPTIONS, string>>>, name: keyof typeof OPTIONS): string {
  const value = values[name]
  if (value === undefined) throw new UsageError(`--${name} is missing`)
  return value
}
