import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ensureVeth } from '../links.ts'
import { createNetns, deleteNetns, netnsPath, runIn } from '../netns.ts'

/** Two namespaces joined by a link: `near`, where the helper works, and `far`, which answers. */
export interface Segment {
  readonly near: string
  readonly far: string
  /** Of the namespaces, for the helper. */
  readonly nearPath: string
  readonly farPath: string
  /** Starts JavaScript in `far` and resolves once it prints a line. Ends with the segment. */
  serve(code: string): Promise<void>
  remove(): Promise<void>
}

export const NEAR = { ip: '10.77.0.1', ip6: 'fd77::1', dev: 'seg0' } as const
export const FAR = { ip: '10.77.0.2', ip6: 'fd77::2', dev: 'seg0' } as const

export async function createSegment(label: string): Promise<Segment> {
  const near = `spt${process.pid}-${label}-n`
  const far = `spt${process.pid}-${label}-f`
  const servers: ChildProcess[] = []
  const remove = async () => {
    for (const server of servers) server.kill('SIGKILL')
    await deleteNetns(near)
    await deleteNetns(far)
  }
  try {
    await createNetns(near)
    await createNetns(far)
    await ensureVeth({ netns: near, name: NEAR.dev }, { netns: far, name: FAR.dev })
    for (const [netns, { ip, ip6, dev }] of [
      [near, NEAR],
      [far, FAR],
    ] as const) {
      await runIn(netns, ['ip', 'address', 'add', `${ip}/24`, 'dev', dev])
      await runIn(netns, ['ip', 'address', 'add', `${ip6}/64`, 'dev', dev, 'nodad'])
    }
  } catch (error) {
    await remove()
    throw error
  }
  const serve = async (code: string) => {
    const child = spawn('nsenter', [`--net=${netnsPath(far)}`, '--', process.execPath, '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    servers.push(child)
    await once(child.stdout, 'data')
  }
  return { near, far, nearPath: netnsPath(near), farPath: netnsPath(far), serve, remove }
}
