/**
 * The connector runs beside a Kubernetes cluster. It turns the cluster's Services, Gateways, Ingresses and LoadBalancer
 * objects into load balancers, of one project or of several by namespace. With `work=configuration` it applies the
 * cluster's configuration objects to the control plane instead. Nodes go on forwarding without it. Composition only.
 *
 * `node main.ts [--config FILE] [--set section.key=value]... [--print-config]`; settings also come from the environment
 * (`SPOUT_CONNECTOR_SPOUT_ENDPOINT`). When many objects are missing from the API server at once, their load balancers are
 * kept, and the log and a metric say so; SIGUSR2 confirms that the objects were deleted. Exit codes: 0 stopped, 1 could
 * not start or does not lead any more, 2 wrong settings.
 */
import { AccessError } from '@spout/kube'
import { readCommandLine } from '@spout/runtime/command-line'
import { ConfigError } from '@spout/runtime/config'
import { createLogger } from '@spout/runtime/logger'
import { startFailure } from '@spout/runtime/start-failure'
import { connectorConfig } from './config.ts'
import { startConfiguration } from './configuration.ts'
import { startConnector } from './connector.ts'

async function main(): Promise<void> {
  const asked = readCommandLine(connectorConfig, 'SPOUT_CONNECTOR', process.argv.slice(2), process.env)
  if (asked.print !== null) {
    process.stdout.write(`${asked.print}\n`)
    return
  }
  const { config } = asked
  const log = createLogger({ name: 'spout-connector', level: config.log.level })
  process.on('unhandledRejection', (error) => log.error({ event: 'unhandled-rejection', bug: true, err: error }))
  const lost = (reason: string) => {
    log.error({ event: 'lost-leadership', reason }, 'another connector may work now; this one ends')
    process.exit(1)
  }
  const connector =
    config.work === 'configuration'
      ? await startConfiguration(config, process.env, log)
      : await startConnector(config, process.env, log, lost)
  process.on('SIGUSR2', () => connector.confirm())
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      log.info({ event: 'stopping', signal }, 'stopping; what nodes carry goes on')
      void connector.stop().then(() => process.exit(0))
    })
}

try {
  await main()
} catch (error) {
  const why = error instanceof AccessError ? error.message : startFailure(error)
  process.stderr.write(`spout-connector: ${why}\n`)
  process.exit(error instanceof ConfigError || error instanceof AccessError ? 2 : 1)
}
