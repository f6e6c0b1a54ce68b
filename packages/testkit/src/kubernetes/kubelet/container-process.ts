import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isAlive, type ProcessId, startTicks } from '../../lab/record.ts'
import { waitFor } from '../../lab/wait-for.ts'
import type { Container, Pod } from '../objects.ts'
import { type KubeletConfig, notReadyFile } from './config.ts'
import { programOf } from './images.ts'
import type { Mount } from './volumes.ts'

export interface ContainerStart {
  readonly pod: Pod
  readonly container: Container
  readonly namespace: string
  readonly ips: readonly string[]
  readonly logFile: string
  /** Mounts of a real program. */
  readonly mounts: readonly Mount[]
}

/** Starts a container's process in its pod's network namespace; it outlives the kubelet. */
export async function startContainer(config: KubeletConfig, start: ContainerStart): Promise<ProcessId> {
  const real = isReal(config, start.container)
  const command = commandOf(config, start)
  const argv = [
    'nsenter',
    `--net=/run/netns/${start.namespace}`,
    '--',
    ...(real ? contained(config, start, command) : command),
  ]
  const log = openSync(start.logFile, 'a')
  const { size } = fstatSync(log)
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environmentOf(config, start) },
  })
  closeSync(log)
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  child.unref()
  const pid = child.pid ?? 0
  const started = { pid, startTicks: startTicks(pid) ?? '' }
  if (!real) await untilListening(started, start.logFile, size)
  return real && isFirstOfItsOwn(start.container) ? await firstInside(started) : started
}

/**
 * Starts a command beside a container's process: in its namespaces and directory, with its environment and as its user,
 * and with pipes. It is the first of a process group.
 */
export function executeIn(
  config: KubeletConfig,
  { pod, container, process: { pid } }: { pod: Pod; container: Container; process: ProcessId },
  command: readonly string[],
): ChildProcess {
  const user = isReal(config, container) ? asUser({ pod, container }) : []
  const argv = ['--target', String(pid), '--net', '--mount', '--uts', '--pid', '--wd', '--', ...user, ...command]
  return spawn('nsenter', argv, { detached: true, stdio: 'pipe', env: environmentIn(pid) })
}

function environmentIn(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((line) => line.includes('='))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}

/** Whether the image stands for a program other than the test bed's own. */
export const isReal = ({ images }: KubeletConfig, { image }: Container): boolean => programOf(images, image) !== null

/** A container without a readiness probe is ready when it runs; the test bed's program runs once its ports are open. */
async function untilListening(started: ProcessId, logFile: string, from: number): Promise<void> {
  const said = () => readFileSync(logFile).subarray(from).includes('ready\n')
  await waitFor(() => said() || !isAlive(started), { what: `${logFile} to say that its ports are open`, everyMs: 2 })
}

/** Sends a signal to a process that may just have ended. */
export function signal(target: ProcessId, name: NodeJS.Signals): void {
  try {
    if (isAlive(target)) process.kill(target.pid, name)
  } catch {
    // It ended in between.
  }
}

function commandOf(config: KubeletConfig, { pod, container }: ContainerStart): readonly string[] {
  const real = programOf(config.images, container.image)
  if (real !== null) return [...real, ...(container.command ?? []), ...(container.args ?? [])]
  const { metadata } = pod
  const ports = (protocol: string): string =>
    (container.ports ?? [])
      .filter((port) => (port.protocol ?? 'TCP') === protocol)
      .map((port) => port.containerPort)
      .join(',')
  return [
    config.podProgram,
    ...['-namespace', metadata.namespace ?? '', '-name', metadata.name, '-node', config.node],
    ...['-not-ready', notReadyFile(config.directory, metadata.uid ?? '')],
    ...['-http', ports('TCP'), '-udp', ports('UDP')],
  ]
}

/**
 * Gives the process the pod's host name and a mount namespace of its own, which nobody else sees and which ends with
 * the process. A container that mounts for the machine keeps the machine's mounts; the mounts that contain its own
 * become slaves, so that what is mounted there stays in the container. Missing mount points are created on the machine,
 * and stay there, empty.
 */
function contained(config: KubeletConfig, start: ContainerStart, argv: readonly string[]): readonly string[] {
  const { pod, container, mounts } = start
  const words = mounts.flatMap(({ source, target, readOnly, isShared }) => {
    if (isShared && source === target) return []
    return [source, target, isShared ? 'shared' : readOnly ? 'ro' : 'rw']
  })
  const propagation = mounts.some(({ isShared }) => isShared) ? 'unchanged' : 'slave'
  const own = ['unshare', '--uts', '--mount', '--propagation', propagation]
  // Its daemons end with its first process, as in every container.
  const processes = isFirstOfItsOwn(container) ? ['--pid', '--fork', '--kill-child', '--mount-proc'] : []
  return [
    ...own,
    ...processes,
    'sh',
    '-ec',
    SCRIPT,
    'sh',
    hostNameOf(config, pod),
    String(words.length / 3),
    ...words,
    ...asUser(start),
    ...argv,
  ]
}

const SCRIPT = `
echo "$1" > /proc/sys/kernel/hostname
left=$2; shift 2
while [ "$left" -gt 0 ]; do
  [ -f "$1" ] || mkdir -p "$2"
  mount --make-slave "$(findmnt --noheadings --output TARGET --target "$2")"
  mount --bind "$1" "$2"
  [ "$3" != ro ] || mount -o remount,bind,ro "$2"
  left=$((left - 1)); shift 3
done
exec "$@"`

/** The user of the manifest: a process that is not root has no capabilities either. */
function asUser({ pod, container }: Pick<ContainerStart, 'pod' | 'container'>): readonly string[] {
  const { runAsUser: user, runAsGroup: group = user, fsGroup } = pod.spec.securityContext ?? {}
  if (user === undefined) return []
  const groups = fsGroup === undefined ? '--clear-groups' : `--groups=${fsGroup}`
  const bare = container.securityContext?.capabilities?.drop?.includes('ALL') ? ['--bounding-set=-all'] : []
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, groups, '--inh-caps=-all', ...bare, '--no-new-privs', '--']
}

/** The host name that a pod sees. */
export const hostNameOf = ({ node }: KubeletConfig, { spec, metadata }: Pod): string =>
  spec.hostNetwork ? node : metadata.name

/** Containers that start daemons are privileged here. */
const isFirstOfItsOwn = ({ securityContext }: Container): boolean => securityContext?.privileged === true

/** The first process in a PID namespace: it gets signals, and its end is the container's end. */
async function firstInside(outer: ProcessId): Promise<ProcessId> {
  const children = `/proc/${outer.pid}/task/${outer.pid}/children`
  const pid = await waitFor(
    () => (isAlive(outer) ? Number(readFileSync(children, 'utf8').trim()) || null : outer.pid),
    { what: 'the first process of the container', everyMs: 2 },
  )
  return { pid, startTicks: startTicks(pid) ?? '' }
}

function environmentOf(config: KubeletConfig, { pod, container, ips }: ContainerStart): Record<string, string> {
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'spec.nodeName': config.node,
    'status.podIP': ips[0],
    'status.hostIP': config.addresses[0],
  }
  const api = new URL(config.access.url)
  const variables: Record<string, string> = {
    // A pod of the host network uses the node's own route to the API server and needs no kube-proxy.
    KUBERNETES_SERVICE_HOST: pod.spec.hostNetwork ? api.hostname : '10.96.0.1',
    KUBERNETES_SERVICE_PORT: pod.spec.hostNetwork ? api.port : '443',
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath
    variables[name] = path === undefined ? expanded(value ?? '', variables) : (fields[path] ?? '')
  }
  return variables
}

/** `$(NAME)` in a value is what an earlier variable has. */
const expanded = (value: string, earlier: Readonly<Record<string, string>>): string =>
  value.replaceAll(/\$\(([A-Za-z_]\w*)\)/g, (all, name: string) => earlier[name] ?? all)
