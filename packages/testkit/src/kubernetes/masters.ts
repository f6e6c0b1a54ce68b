import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab, PlaceName } from '../lab/lab.ts'
import { killPid, pidsIn } from '../lab/namespace-processes.ts'
import { must } from '../lab/run.ts'
import { runAgent } from '../system/system.ts'
import { ensureKubernetes, type KubernetesPrograms } from './build.ts'
import { apiServerFlags } from './control-plane.ts'
import { type Credentials, makeCredentials } from './credentials.ts'
import {
  API_CLUSTER_IPS,
  addFabricPlace,
  addManagement,
  ETCD_ADDRESS,
  masterAddress,
  masterManagementAddress,
  masterPort,
} from './network.ts'

const ETCD = 'etcd'
const NAMES: readonly PlaceName[] = ['master1', 'master2', 'master3']
const ETCD_URL = `http://${ETCD_ADDRESS}:2379`

export interface MastersOptions {
  /** Of the API servers, on the fabric. */
  readonly address: string
  /** The file of settings of every agent. */
  readonly agentSettings: string
}

/**
 * Three masters of one cluster on the lab's fabric, each with an agent and an API server, behind one address. They share
 * one etcd, in a place of its own: a master's death takes no member of it away.
 */
export class Masters {
  readonly lab: Lab
  readonly address: string
  /** Where the files of all of them are, `agent.yaml` among them. */
  readonly directory: string
  readonly #programs: KubernetesPrograms
  readonly #credentials: Credentials
  readonly #off = new Set<PlaceName>()

  private constructor(lab: Lab, address: string, programs: KubernetesPrograms, credentials: Credentials) {
    this.lab = lab
    this.address = address
    this.directory = directoryOf(lab)
    this.#programs = programs
    this.#credentials = credentials
  }

  /** Makes the machines; nothing runs on them. */
  static async create(lab: Lab, { address, agentSettings }: MastersOptions): Promise<Masters> {
    const programs = await ensureKubernetes()
    const fabric = lab.namespace('fabric')
    await addFabricPlace(fabric, lab.namespace(ETCD), 'etcd', ETCD_ADDRESS)
    const own = NAMES.map((_, index) => masterAddress(index))
    for (const [index, name] of NAMES.entries()) {
      await addFabricPlace(fabric, lab.namespace(name), masterPort(index), masterAddress(index))
      const managementAddress = masterManagementAddress(lab.number, index)
      await addManagement(fabric, lab.namespace(name), masterPort(index), managementAddress)
    }
    mkdirSync(directoryOf(lab), { recursive: true })
    writeFileSync(path.join(directoryOf(lab), 'agent.yaml'), agentSettings)
    const subjects = ['127.0.0.1', address, ...own, ...API_CLUSTER_IPS, 'kubernetes.default.svc']
    const credentials = await makeCredentials(
      path.join(directoryOf(lab), 'credentials'),
      `https://${address}:6443`,
      subjects,
    )
    return new Masters(lab, address, programs, credentials)
  }

  /** Names of their places. */
  get names(): readonly PlaceName[] {
    return NAMES
  }

  get caFile(): string {
    return this.#credentials.caFile
  }

  /** Command line prefix of `kubectl` as the administrator, through the address. */
  get kubectl(): readonly string[] {
    return [...this.#programs.kubectl, `--kubeconfig=${this.#credentials.kubeconfigs.admin}`]
  }

  addressOf(name: PlaceName): string {
    return masterAddress(this.#indexOf(name))
  }

  /** The switch's end of its cable. */
  portOf(name: PlaceName): string {
    return masterPort(this.#indexOf(name))
  }

  /** All processes of it and its domains. */
  async pidsOf(name: PlaceName): Promise<readonly number[]> {
    return (await Promise.all(this.#namespacesOf(name).map(pidsIn))).flat()
  }

  /** @throws Error when it runs none */
  apiServerPid(name: PlaceName): number {
    const found = this.lab.process(apiServerOf(name))
    if (found === null) throw new Error(`${name} runs no API server`)
    return found.pid
  }

  /**
   * Starts its agent and waits until it is up.
   * @param set settings besides those of the file, as `--set` takes them
   */
  async startAgent(name: PlaceName, set: readonly string[] = []): Promise<void> {
    const config = path.join(this.directory, 'agent.yaml')
    await runAgent(this.lab, name, this.#instanceOf(name), { config, set })
  }

  /** Kills its agent, which leaves everything that it programmed. */
  async killAgent(name: PlaceName): Promise<void> {
    const found = this.lab.process(`agent-${name}`)
    if (found !== null) await this.lab.stop(found, 'SIGKILL')
  }

  async startEtcd(): Promise<void> {
    const directory = path.join(this.directory, ETCD)
    const flags = [`--data-dir=${directory}`, `--listen-client-url=${ETCD_URL}`]
    await this.lab.start(ETCD, ETCD, [this.#programs.controlPlane, 'etcd', ...flags], { readyText: 'etcd is ready' })
  }

  /** Starts its API server, without waiting for it. It listens on all addresses, as kubeadm has it. */
  async startApiServer(name: PlaceName): Promise<void> {
    const flags = apiServerFlags(this.#credentials, { etcdUrl: ETCD_URL, address: this.addressOf(name) })
    // As kubeadm has it: `/readyz` answers everybody.
    const further = ['--bind-address=0.0.0.0', '--anonymous-auth=true']
    const argv = [this.#programs.controlPlane, 'kube-apiserver', ...flags, ...further]
    await this.lab.start(name, apiServerOf(name), argv, { env: { GOGC: '200' } })
  }

  async killApiServer(name: PlaceName): Promise<void> {
    const found = this.lab.process(apiServerOf(name))
    if (found !== null) await this.lab.stop(found, 'SIGKILL')
  }

  /** Stops everything of a master at once: its cable is dead, and no process of it or its domains is left. */
  async powerOff(name: PlaceName): Promise<void> {
    this.#off.add(name)
    await this.#cable(name, 'down')
    // Repeated until none is left: a process that is starting may start another.
    for (let pids = await this.pidsOf(name); pids.length > 0; pids = await this.pidsOf(name))
      for (const pid of pids) killPid(pid)
  }

  /**
   * Takes from a master without power what a machine loses with it: its domains, and every address that was not
   * configured. Otherwise it would answer for the address as soon as its cable is up, before an agent runs.
   */
  async loseMemory(name: PlaceName): Promise<void> {
    const [own, ...domains] = this.#namespacesOf(name)
    for (const domain of domains) await must(['ip', 'netns', 'delete', domain])
    await must(['ip', '-n', own!, 'address', 'flush', 'dev', 'fab0', 'to', `${this.address}/32`])
  }

  /** Starts the master again as it was left. */
  async powerOn(name: PlaceName): Promise<void> {
    await this.#cable(name, 'up')
    this.#off.delete(name)
    await this.startAgent(name)
    await this.startApiServer(name)
  }

  /** Running masters that have the address on their interface. */
  async holders(): Promise<readonly PlaceName[]> {
    const running = this.names.filter((name) => !this.#off.has(name))
    const bound = await Promise.all(running.map((name) => this.lab.must(name, ['ip', 'addr', 'show', 'dev', 'fab0'])))
    return running.filter((_, index) => bound[index]?.includes(` ${this.address}/`))
  }

  async #cable(name: PlaceName, state: 'up' | 'down'): Promise<void> {
    const fabric = this.lab.namespace('fabric')
    await must(['ip', '-n', fabric, 'link', 'set', 'dev', this.portOf(name), state])
  }

  #namespacesOf(name: PlaceName): readonly string[] {
    const domains = `${this.#instanceOf(name)}-d`
    return [this.lab.namespace(name), ...readdirSync('/run/netns').filter((each) => each.startsWith(domains))]
  }

  #indexOf(name: PlaceName): number {
    const index = NAMES.indexOf(name)
    if (index === -1) throw new Error(`there is no master ${name}`)
    return index
  }

  /** Begins with the lab's id, so that the lab removes the namespaces. */
  #instanceOf(name: PlaceName): string {
    return `${this.lab.id}n${this.#indexOf(name) + 1}`
  }
}

const apiServerOf = (name: PlaceName): string => `${name}-kube-apiserver`
const directoryOf = (lab: Lab): string => path.join(lab.directory, 'masters')
