import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  callApi,
  type KubernetesCluster,
  type Lab,
  PRODUCT_ENVIRONMENT,
  productUnit,
  type SystemAccess,
  type Tenant,
  waitFor,
} from '@spout/testkit'
import { peakResidentMb, residentMb } from '../bed/processes.ts'
import { metric } from './prometheus.ts'

const ENTRY_POINT = path.resolve(import.meta.dirname, '../../deploy/image/entrypoint.sh')
const PROGRAM = path.resolve(import.meta.dirname, '../../apps/connector/src/main.ts')
const NAME = 'connector'
/** As the image starts it. */
const YOUNG = `--max-semi-space-size=${/= connector \] && young=(\d+)/.exec(readFileSync(ENTRY_POINT, 'utf8'))?.[1]}`
/** User agent of its requests to the API server. */
export const CONNECTOR_AGENT = 'spout-connector'

export interface ConnectorSetting {
  readonly lab: Lab
  readonly access: SystemAccess
  readonly tenant: Tenant
  readonly cluster: KubernetesCluster
  /** Settings in addition to those of every bed. */
  readonly set: readonly string[]
}

/** The connector as a process on the host, with a token of role `balancer` for the tenant's project. */
export class Connector {
  readonly #lab: Lab
  readonly #argv: readonly string[]
  #url = ''

  private constructor(lab: Lab, argv: readonly string[]) {
    this.#lab = lab
    this.#argv = argv
  }

  /** Prepares everything it needs, without starting it. */
  static async prepare({ lab, access, tenant, cluster, set }: ConnectorSetting): Promise<Connector> {
    const tokenFile = path.join(lab.directory, 'connector-token')
    writeFileSync(tokenFile, await balancerToken(access, tenant), { mode: 0o600 })
    const settings = [
      `spout.endpoint=${access.endpoint}`,
      `spout.tokenFile=${tokenFile}`,
      `kubernetes.kubeconfig=${cluster.kubeconfigFile}`,
      'leader.elect=false',
      'http.host=127.0.0.1',
      'http.port=0',
      ...set,
    ]
    const argv = [process.execPath, ...productUnit('control-plane').nodeOptions, YOUNG, PROGRAM]
    return new Connector(lab, [...argv, ...settings.flatMap((setting) => ['--set', setting])])
  }

  /** Starts it; resolves once it serves its metrics, before it has read both sides. */
  async start(): Promise<void> {
    const options = { env: PRODUCT_ENVIRONMENT, readyText: '"event":"listening"' }
    const { logFile } = await this.#lab.start('host', NAME, this.#argv, options)
    const line = readFileSync(logFile, 'utf8')
      .split('\n')
      .findLast((text) => text.includes('"event":"listening"'))
    this.#url = `http://127.0.0.1:${(JSON.parse(line ?? '{}') as { httpPort: number }).httpPort}`
  }

  async kill(): Promise<void> {
    const running = this.#lab.process(NAME)
    if (running !== null) await this.#lab.stop(running, 'SIGKILL')
  }

  get #pid(): number {
    const running = this.#lab.process(NAME)
    if (running === null) throw new Error('the connector does not run')
    return running.pid
  }

  get memoryMb(): { readonly now: number; readonly peak: number } {
    return { now: residentMb(this.#pid), peak: peakResidentMb(this.#pid) }
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.#url}/metrics`)).text()
  }

  /** Waits until it balances this many Services and its queue is empty. */
  async idle(services: number, timeoutMs = 60_000): Promise<void> {
    await waitFor(
      async () => {
        if ((await fetch(`${this.#url}/readyz`)).status !== 200) return false
        const text = await this.metrics()
        return metric(text, 'spout_connector_services') === services && metric(text, 'spout_connector_queue') === 0
      },
      { what: `the connector to be done with ${services} Services`, timeoutMs, everyMs: 100 },
    )
    const refused = metric(await this.metrics(), 'spout_connector_services_refused')
    if (refused > 0) throw new Error(`${refused} Services were refused`)
  }
}

async function balancerToken({ endpoint, admin }: SystemAccess, { projectId, project }: Tenant): Promise<string> {
  const user = { name: 'connector', password: 'in-the-lab' }
  await callApi(endpoint, admin.token, 'POST', '/users', { ...user, roles: [{ projectId, role: 'balancer' }] })
  const login = { userName: user.name, password: user.password, projectName: project }
  return (await callApi<{ token: string }>(endpoint, '', 'POST', '/tokens', login)).token
}
