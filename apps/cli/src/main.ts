/**
 * The `spout` command for users and operators. Composition only: it is a client of the native API and decides nothing.
 * Exit codes: 0 done, 1 refused or failed, 2 called wrongly.
 */

import { ApiProblem } from '@spout/client/api'
import { CommanderError } from 'commander'
import { type CommandContext, sessionOf, UsageError } from './commands/connections/context.ts'
import { errorText, whoWasRefused } from './error-text.ts'
import { buildProgram } from './program.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
// A reader that stops early, such as `head`, is no error.
process.stdout.on('error', () => process.exit(0))

const context: CommandContext = {
  env: process.env,
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
  write: (text) => process.stdout.write(text),
  signal: stop.signal,
}
const say = (line: string) => process.stderr.write(`spout: ${line}\n`)

try {
  await buildProgram(context).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else if (error instanceof UsageError) {
    say(error.message)
    process.exitCode = 2
  } else if (!stop.signal.aborted || error instanceof ApiProblem) {
    say(errorText(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)))
    process.exitCode = 1
    const refused = await whoWasRefused(error, () => sessionOf(context))
    if (refused !== null) say(refused)
  }
}
