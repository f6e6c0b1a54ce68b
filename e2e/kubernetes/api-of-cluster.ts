import { readFileSync } from 'node:fs'
import type { Kubernetes } from '@spout/testkit'
import type { InClusterLab } from './in-cluster-lab.ts'

/** A write that was acknowledged, and when the client heard of it. */
interface AcceptedWrite {
  readonly name: string
  readonly atMs: number
}

/** Where the client is: on a node, whose kube-proxy knows Services. */
const PLACE = 'worker1'

/** Creates projects as fast as they are acknowledged, and prints for each what was answered, its name, and the time. */
const WRITE = `n=0
while n=$((n+1)); do
  code=$(curl -sk -m 5 -o /dev/null -w '%{http_code}' -H "authorization: Bearer $TOKEN" \
    -H 'content-type: application/json' -d "{\\"name\\":\\"$NAME-$n\\"}" "$URL/api/v1/projects")
  echo "$code $NAME-$n $(date +%s%3N)"
done`

/** The control plane's API by the address of its Service, for the administrator. */
export class ApiOfCluster {
  readonly #lab: InClusterLab
  readonly #url: string
  readonly #token: string

  private constructor(lab: InClusterLab, url: string, token: string) {
    this.#lab = lab
    this.#url = url
    this.#token = token
  }

  static async open(lab: InClusterLab): Promise<ApiOfCluster> {
    const { spec } = await lab.cluster.api.get<Kubernetes.Service>('/api/v1/namespaces/spout/services/control-plane')
    const url = `https://${spec.clusterIPs?.[0]}:9130`
    const of = ['get', 'secret', 'control-plane-keys', '--namespace', 'spout', '--output', 'jsonpath={.data}'] as const
    const keys = JSON.parse(await lab.kubectl(...of)) as Readonly<Record<string, string>>
    const password = Buffer.from(keys['admin-password'] ?? '', 'base64')
      .toString()
      .trim()
    const domain = { name: 'Default' }
    const auth = {
      identity: { methods: ['password'], password: { user: { name: 'admin', password, domain } } },
      scope: { project: { name: 'admin', domain } },
    }
    const head = await lab.lab.must(PLACE, [
      ...['curl', '-sk', '-m', '10', '-o', '/dev/null', '-D', '-', '-H', 'content-type: application/json'],
      ...['-d', JSON.stringify({ auth }), `${url}/identity/v3/auth/tokens`],
    ])
    const token = /^x-subject-token: (\S+)/im.exec(head)?.[1]
    if (token === undefined) throw new Error(`no token: ${head}`)
    return new ApiOfCluster(lab, url, token)
  }

  async projectNames(): Promise<readonly string[]> {
    const argv = ['curl', '-sk', '-m', '10', '-H', `authorization: Bearer ${this.#token}`]
    const { items } = JSON.parse(await this.#lab.lab.must(PLACE, [...argv, `${this.#url}/api/v1/projects`])) as {
      readonly items: readonly { readonly name: string }[]
    }
    return items.map(({ name }) => name)
  }

  /**
   * Writes through whichever control plane the Service leads to, until it is stopped.
   * @param prefix what the names of the projects begin with
   */
  async startWriting(prefix: string) {
    const { lab } = this.#lab
    const env = { TOKEN: this.#token, URL: this.#url, NAME: prefix }
    const daemon = await lab.start(PLACE, `writes-${prefix}`, ['bash', '-c', WRITE], { env })
    const accepted = (): readonly AcceptedWrite[] =>
      readFileSync(daemon.logFile, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split(' '))
        .filter(([code]) => code?.startsWith('2'))
        .map(([, name = '', atMs]) => ({ name, atMs: Number(atMs) }))
    const stop = async (): Promise<readonly AcceptedWrite[]> => {
      await lab.stop(daemon)
      return accepted()
    }
    return { accepted, stop }
  }
}
