/**
 * The node agent: programs this machine according to the control plane. Composition only.
 *
 * `node main.ts [--config FILE] [--set section.key=value]... [--print-config]`; settings also come from the environment
 * (`SPOUT_AGENT_SERVER_URL`). SIGTERM ends it; forwarding continues. Exit codes: 0 stopped, 1 could not start, 2 wrong
 * settings. `node main.ts doctor` looks at the node instead, and ends.
 */
import { flushCompileCache } from 'node:module'
import { createLogger } from '@spout/runtime/logger'
import { startFailure } from '@spout/runtime/start-failure'
import { AgentProcess } from './agent-process.ts'
import { readSettings } from './settings.ts'

async function main(): Promise<void> {
  if (process.argv[2] === 'doctor') {
    const { doctor } = await import('./doctor.ts')
    process.exitCode = await doctor(process.argv.slice(3))
    return
  }
  const settings = readSettings(process.argv.slice(2))
  if (typeof settings === 'number') process.exit(settings)
  if (settings.print !== null) {
    process.stdout.write(`${settings.print}\n`)
    return
  }
  const { config, local } = settings
  const log = createLogger({ name: 'spout-agent', level: config.log.level })
  process.on('unhandledRejection', (error) => log.error({ event: 'unhandled-rejection', bug: true, err: error }))
  const agent = new AgentProcess({ config, plans: local, log, onFailed: fail })
  await agent.start()
  // Writes the compile cache, if one is set, so that the next start uses it however this process ends.
  flushCompileCache()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      log.info({ event: 'stopping', signal }, 'stopping; traffic goes on')
      void agent.stop().then(() => process.exit(0))
    })
}

function fail(error: unknown): void {
  process.stderr.write(`spout-agent: ${startFailure(error)}\n`)
  process.exit(1)
}

try {
  await main()
} catch (error) {
  fail(error)
}
