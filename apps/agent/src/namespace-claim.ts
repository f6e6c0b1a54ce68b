import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentConfig } from './config.ts'

type Settings = Pick<AgentConfig, 'instance' | 'stateDirectory'> & {
  readonly fabric: Pick<AgentConfig['fabric'], 'namespace'>
}

/** An agent that ends may take as long to let go of its node. */
const PATIENCE_MS = 10_000
const LOOK_EVERY_MS = 200
const ANSWER_WITHIN_MS = 1_000
const MOST_TOLD = 300

/** Another agent works in the network namespace. */
class NamespaceTaken extends Error {
  override readonly name = 'NamespaceTaken'
}

/**
 * Claims the network namespace that faces the fabric, until the process ends. Two agents in one would take each other's
 * routes and rules away: their tables and addresses are numbered alike, whatever their instances are called.
 *
 * The claim is an abstract UNIX socket (man 7 unix). It belongs to the network namespace, so agents in containers and
 * beside them see each other, and it ends with its process.
 * @returns how to release it
 * @throws NamespaceTaken saying which agent has it
 */
export async function claimNamespace(config: Settings, patienceMs = PATIENCE_MS): Promise<() => Promise<void>> {
  const { namespace } = config.fabric
  const name = `\0spout-agent${namespace && ` ${namespace}`}`
  const giveUpMs = performance.now() + patienceMs
  for (;;) {
    const server = await listenAt(name, whoIs(config))
    if (server !== null)
      return async () => {
        server.close()
        await once(server, 'close')
      }
    if (performance.now() >= giveUpMs) throw new NamespaceTaken(refusal(namespace, await ask(name)))
    await pause(LOOK_EVERY_MS)
  }
}

const whoIs = ({ instance, stateDirectory }: Settings): string =>
  `process ${process.pid}, instance ${instance}, state in ${stateDirectory}`

const refusal = (namespace: string, holder: string): string =>
  `another agent works in ${namespace ? `network namespace ${namespace}` : 'this network namespace'} (${holder}): stop it first, since two would take each other's routes and rules away`

/** Null if another process listens there. */
async function listenAt(name: string, told: string): Promise<Server | null> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(told)
    // One that stays must not keep this agent from ending.
    socket.destroySoon()
  }).unref()
  try {
    server.listen(name)
    await once(server, 'listening')
    return server
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return null
    throw error
  }
}

/** What the holder says of itself, which may be any program of the machine. */
async function ask(name: string): Promise<string> {
  const socket = connect(name).setEncoding('utf8').setTimeout(ANSWER_WITHIN_MS)
  socket.on('timeout', () => socket.destroy(new Error('it does not answer')))
  let said = ''
  try {
    for await (const part of socket) {
      said += part
      if (said.length > MOST_TOLD) break
    }
  } catch {
    // It may have ended just now, or be no agent. What it said until then is told.
  }
  return said.slice(0, MOST_TOLD).replace(/[^\x20-\x7e]/g, '?') || 'it does not say which'
}
