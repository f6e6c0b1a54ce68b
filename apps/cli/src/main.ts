/**
 * The `spout` command: what users and operators type. Composition only; it talks to the native API and decides
 * nothing. Exit codes: 0 done, 1 refused or failed, 2 called wrongly.
 */

import { ApiProblem } from '@spout/client/api'
import { SpoutError } from '@spout/model/errors'
import { CommanderError } from 'commander'
import { UsageError } from './commands/context.ts'
import { buildProgram } from './program.ts'

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
// A reader such as `head` that has seen enough is no error.
process.stdout.on('error', () => process.exit(0))

const program = buildProgram({
  env: process.env,
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
  write: (text) => process.stdout.write(text),
  signal: stop.signal,
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else if (!stop.signal.aborted) {
    const told = error instanceof ApiProblem || error instanceof SpoutError || error instanceof UsageError
    process.stderr.write(
      `spout: ${told ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
