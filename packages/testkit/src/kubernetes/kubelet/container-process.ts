import { spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { isAlive, type ProcessId, startTicks } from '../../lab/record.ts'
import { waitFor } from '../../lab/wait-for.ts'
import type { Container, Pod } from '../objects.ts'
import { type KubeletConfig, notReadyFile } from './config.ts'

/** Where the files of its service account appear to a real program, as in every pod. */
export const SERVICE_ACCOUNT_MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

export interface ContainerStart {
  readonly pod: Pod
  readonly container: Container
  readonly namespace: string
  readonly ips: readonly string[]
  readonly logFile: string
  /** Directory that appears at `SERVICE_ACCOUNT_MOUNT`; null for none. */
  readonly serviceAccountDirectory: string | null
}

/** Starts a container's process in its pod's network namespace; it outlives the kubelet. */
export async function startContainer(config: KubeletConfig, start: ContainerStart): Promise<ProcessId> {
  const argv = ['nsenter', `--net=/run/netns/${start.namespace}`, '--', ...mounted(start, commandOf(config, start))]
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
  if (!isReal(config, start.container)) await untilListening(started, start.logFile, size)
  return started
}

/** Whether the image stands for a program other than the test bed's own. */
export const isReal = (config: KubeletConfig, { image }: Container): boolean => image in config.images

/** Without a readiness probe a container is ready when it runs: the test bed's program runs once its ports are open. */
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
  const real = config.images[container.image]
  if (real !== undefined) return [...real, ...(container.command ?? []), ...(container.args ?? [])]
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

/** A mount of the process's own: nobody else sees it, and it goes with the process. */
function mounted({ serviceAccountDirectory }: ContainerStart, argv: readonly string[]): readonly string[] {
  if (serviceAccountDirectory === null) return argv
  mkdirSync(SERVICE_ACCOUNT_MOUNT, { recursive: true })
  const script = `mount --bind "$1" ${SERVICE_ACCOUNT_MOUNT} && shift && exec "$@"`
  return ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c', script, 'sh', serviceAccountDirectory, ...argv]
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
    // The node's own way to the API server: a pod of the host network needs no kube-proxy for it.
    KUBERNETES_SERVICE_HOST: pod.spec.hostNetwork ? api.hostname : '10.96.0.1',
    KUBERNETES_SERVICE_PORT: pod.spec.hostNetwork ? api.port : '443',
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath
    variables[name] = path === undefined ? (value ?? '') : (fields[path] ?? '')
  }
  return variables
}
