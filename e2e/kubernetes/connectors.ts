import { readFileSync } from 'node:fs'
import path from 'node:path'
import { bundled, PRODUCT_ENVIRONMENT } from '@spout/testkit'
import type { ServiceLab } from './service-lab.ts'

const PROGRAM = bundled(path.resolve(import.meta.dirname, '../../apps/connector/src/main.ts'))
const LISTENING = '"event":"listening"'

export interface ConnectorStart {
  /** Name of the process; the lab's own connector is `connector`. */
  readonly name?: string
  /** Whether it is elected by a Lease in namespace default. */
  readonly elect?: boolean
  /** Whether to wait until it listens. */
  readonly wait?: boolean
  /** Further settings. */
  readonly set?: readonly string[]
}

/** Starts a connector with the token of the lab's own, which must have been stopped unless they elect a leader. */
export const startConnector = (
  { system, tenant, cluster }: ServiceLab,
  { name = 'connector', elect = false, wait = true, set = [] }: ConnectorStart = {},
) => {
  const settings = [
    `spout.endpoint=${system.access.endpoint}`,
    `spout.tokenFile=${path.join(system.lab.directory, 'connector-token')}`,
    `kubernetes.kubeconfig=${cluster.kubeconfigFile}`,
    `network.name=${tenant.networkId}`,
    `leader.elect=${elect}`,
    'leader.namespace=default',
    'http.host=127.0.0.1',
    'http.port=0',
    ...set,
  ]
  const argv = [process.execPath, PROGRAM, ...settings.flatMap((setting) => ['--set', setting])]
  return system.lab.start('host', name, argv, {
    env: PRODUCT_ENVIRONMENT,
    ...(wait ? { readyText: LISTENING } : {}),
  })
}

export async function stopConnector({ system }: ServiceLab, name: string, signal: NodeJS.Signals): Promise<void> {
  const running = system.lab.process(name)
  if (running !== null) await system.lab.stop(running, signal)
}

/** Everything a connector has logged, over all its starts. */
export const connectorLog = ({ system }: ServiceLab, name = 'connector'): string =>
  readFileSync(path.join(system.lab.directory, `${name}.log`), 'utf8')

/** A metric of the newest connector of this name; null while it serves none. `labels` as they are printed. */
export async function connectorMetric(
  lab: ServiceLab,
  metric: string,
  { labels = '', name = 'connector' }: { readonly labels?: string; readonly name?: string } = {},
): Promise<number | null> {
  const line = connectorLog(lab, name)
    .split('\n')
    .findLast((text) => text.includes(LISTENING))
  const { httpPort } = JSON.parse(line ?? '{}') as { readonly httpPort?: number }
  const answer = await fetch(`http://127.0.0.1:${httpPort}/metrics`).catch(() => null)
  const text = (await answer?.text()) ?? ''
  const found = text.split('\n').find((each) => each.startsWith(`${metric}${labels} `))
  return found === undefined ? null : Number(found.slice(found.lastIndexOf(' ') + 1))
}
