/** The verbs of `./dev`. Composition only: each verb is a file beside this one. */
import { add } from './add.ts'
import { bench } from './bench.ts'
import { check } from './check.ts'
import { down } from './down.ts'
import { env } from './env.ts'
import { golden } from './golden.ts'
import { image } from './image.ts'
import { inPlace, places } from './in.ts'
import { packageVerb } from './package.ts'
import { provenance } from './provenance.ts'
import { release } from './release.ts'
import { sbom } from './sbom.ts'
import { spout } from './spout.ts'
import { test } from './test.ts'
import { ui } from './ui.ts'
import { up } from './up.ts'
import { UsageError, type Verb } from './verb.ts'

const VERBS: readonly Verb[] = [
  up,
  down,
  env,
  inPlace,
  places,
  spout,
  ui,
  test,
  bench,
  check,
  golden,
  add,
  packageVerb,
  image,
  release,
  sbom,
  provenance,
]

const usageOf = (verb: Verb): string => `./dev ${verb.name}${verb.usage ? ` ${verb.usage}` : ''}`

function help(): string {
  const width = Math.max(...VERBS.map((verb) => usageOf(verb).length))
  return [
    'Usage:',
    ...VERBS.map((verb) => `  ${usageOf(verb).padEnd(width)}  ${verb.summary}`),
    '',
    '`./dev VERB --help` says more.',
    '',
  ].join('\n')
}

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...args] = argv
  if (name === undefined || name === '--help' || name === 'help') {
    process.stdout.write(help())
    return name === undefined ? 2 : 0
  }
  const verb = VERBS.find((candidate) => candidate.name === name)
  if (!verb) throw new UsageError(`there is no verb ${JSON.stringify(name)}\n\n${help()}`)
  // `in` and `spout` pass all arguments on; their own --help counts only as the first argument.
  if (args[0] === '--help' && verb.name !== 'spout') {
    process.stdout.write(`Usage: ${usageOf(verb)}\n\n${verb.summary}\n${verb.details ? `\n${verb.details}\n` : ''}`)
    return 0
  }
  return verb.run(args)
}

// A reader that stops early, such as `head`, is no error.
process.stdout.on('error', () => process.exit(0))

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const usage = error instanceof UsageError
  process.stderr.write(
    `dev: ${usage || !(error instanceof Error) ? (error as Error).message : (error.stack ?? error.message)}\n`,
  )
  process.exitCode = usage ? 2 : 1
}
