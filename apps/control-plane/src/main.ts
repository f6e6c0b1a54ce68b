/**
 * The control plane: one process that holds the model, plans, and serves clients and nodes. Composition only.
 *
 * `node main.ts [--config FILE] [--set section.key=value]... [--print-config]`; settings also come from the environment
 * (`SPOUT_API_PORT`). Exit codes: 0 stopped, 1 could not start, 2 wrong settings. `node main.ts doctor` looks at the
 * control plane instead, and ends.
 */
import { flushCompileCache } from 'node:module'
import { readCommandLine } from '@spout/runtime/command-line'
import { ConfigError } from '@spout/runtime/config'
import { createLogger } from '@spout/runtime/logger'
import { startFailure } from '@spout/runtime/start-failure'
import { collectStartGarbage } from '@spout/runtime/start-garbage'
import { controlPlaneConfig } from './config.ts'
import { startControlPlane } from './control-plane.ts'

/** By then the memory that only the start needed is garbage. */
const STARTED_MS = 1500

async function main(): Promise<void> {
  if (process.argv[2] === 'doctor') {
    const { doctor } = await import('./doctor/doctor.ts')
    process.exitCode = await doctor(process.argv.slice(3), process.env)
    return
  }
  const asked = readCommandLine(controlPlaneConfig, 'SPOUT', process.argv.slice(2), process.env)
  if (asked.print !== null) {
    process.stdout.write(`${asked.print}\n`)
    return
  }
  const { config } = asked
  const log = createLogger({ name: 'spout-control-plane', level: config.log.level })
  process.on('unhandledRejection', (error) => log.error({ event: 'unhandled-rejection', bug: true, err: error }))
  const lifecycle = await startControlPlane(config, process.env, log)
  // Written now, if a compile cache is set: the next start then has it however this process ends.
  flushCompileCache()
  setTimeout(collectStartGarbage, STARTED_MS).unref()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      log.info({ event: 'stopping', signal })
      void lifecycle.stop().then(() => process.exit(0))
    })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`spout-control-plane: ${startFailure(error)}\n`)
  process.exit(error instanceof ConfigError ? 2 : 1)
}
