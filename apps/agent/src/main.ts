/**
 * The node agent: brings this machine to what the control plane wants of it. Composition only.
 *
 * `node main.ts [--config FILE] [--set section.key=value]... [--print-config]`; settings also come from the environment
 * (`SPOUT_AGENT_SERVER_URL`). SIGTERM ends it and leaves everything forwarding. Exit codes: 0 stopped, 1 could not
 * start, 2 wrong settings.
 */
import { readCommandLine } from '@spout/runtime/command-line'
import { ConfigError } from '@spout/runtime/config'
import { createLogger } from '@spout/runtime/logger'
import { startAgent } from './agent.ts'
import { agentConfig } from './config.ts'

async function main(): Promise<void> {
  const { config, print } = readCommandLine(agentConfig, 'SPOUT_AGENT', process.argv.slice(2), process.env)
  if (print !== null) {
    process.stdout.write(`${print}\n`)
    return
  }
  const log = createLogger({ name: 'spout-agent', level: config.log.level })
  process.on('unhandledRejection', (error) => log.error({ event: 'unhandled-rejection', bug: true, err: error }))
  const lifecycle = await startAgent(config, log)
  log.info({ event: 'running' }, 'the agent is up')
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      log.info({ event: 'stopping', signal }, 'everything stays in force')
      void lifecycle.stop().then(() => process.exit(0))
    })
}

try {
  await main()
} catch (error) {
  const wrong = error instanceof ConfigError
  const words = error instanceof Error ? (wrong ? error.message : (error.stack ?? error.message)) : String(error)
  process.stderr.write(`spout-agent: ${words}\n`)
  process.exit(wrong ? 2 : 1)
}
