import { documentedCommands, freePort, must, waitFor } from '@spout/testkit'
import { ControlPlaneProcess } from './control-plane-process.ts'

export interface PlaneOfSeveral {
  readonly process: ControlPlaneProcess
  /** URL of its agents' link, where it listens while it leads. */
  readonly link: string
  /** Where the others reach it. */
  readonly peer: string
}

export interface PlaneOfSeveralOptions {
  /** The PostgreSQL server as a setting names it, with a database `spout`. */
  readonly server: string
  readonly adminPassword: string
  /** Another one of the installation, whose keys it gets. Default: it is the first. */
  readonly like?: PlaneOfSeveral | undefined
  readonly settings?: readonly string[]
}

/** What docs/postgresql.md says to type, typed: on the first machine, and then on another one. */
async function takeKeys(from: string, to: string): Promise<void> {
  const page = documentedCommands('postgresql.md').filter(({ heading }) => heading === 'Several control planes')
  const [pack = '', unpack = ''] = page.map(({ command }) => command)
  for (const [command, directory] of [
    [pack, from],
    [unpack, to],
  ] as const)
    await must(['bash', '-c', `cd '${from}' && ${command.replaceAll('/var/lib/spout', directory)}`])
}

/** One of several control planes on a PostgreSQL, on this machine, once it leads or follows. The caller must dispose its process. */
export async function startPlaneOfSeveral({
  server,
  adminPassword,
  like,
  settings = [],
}: PlaneOfSeveralOptions): Promise<PlaneOfSeveral> {
  const [link, peer] = [await freePort(), await freePort()]
  const own = [
    ...['store.engine=postgres', `store.postgres.servers=["${server}"]`, 'store.postgres.user=postgres'],
    ...['store.postgres.database=spout', 'store.postgres.tls=false', `admin.password=${adminPassword}`],
    ...[`agentLink.port=${link}`, 'agentLink.host=127.0.0.1', 'api.publicUrl=http://spout.example'],
    ...[`peers.url=https://127.0.0.1:${peer}`, 'peers.host=127.0.0.1', `peers.port=${peer}`],
  ]
  const process = await ControlPlaneProcess.start([...own, ...settings], async (stateDirectory) => {
    if (like !== undefined) await takeKeys(like.process.stateDirectory, stateDirectory)
  })
  const plane = { process, link: `https://127.0.0.1:${link}`, peer: `https://127.0.0.1:${peer}` }
  try {
    await waitFor(async () => (await readyOf(plane)).startsWith('200'), {
      what: 'it to lead or follow',
      timeoutMs: 60_000,
    })
    return plane
  } catch (error) {
    await process[Symbol.asyncDispose]()
    throw error
  }
}

/** What its `/readyz` answers: `200 ok: leads`, `200 ok: follows …`, `503 …`, or `gone`. */
export async function readyOf({ process }: PlaneOfSeveral): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${process.statusPort}/readyz`).catch(() => null)
  return response === null ? 'gone' : `${response.status} ${(await response.text()).trim()}`
}
