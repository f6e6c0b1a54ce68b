import { readFileSync } from 'node:fs'
import path from 'node:path'
import { callApi, type Lab, powerOff, powerOn, type SystemAccess, waitFor } from '@spout/testkit'
import type { Teller } from './teller.ts'

const CLIENT = path.join(import.meta.dirname, 'download-client.ts')
const DOWNLOAD_S = 1.2

interface Vip {
  readonly address: string
  readonly owners: readonly string[]
}

interface Downloaded {
  readonly error: string | null
  readonly bytes: number
  readonly longestGapMs: number
}

/** Cuts the power of the node that carries the traffic while a client downloads; then it comes back. */
export async function nodeDies(lab: Lab, access: SystemAccess, vip: string, teller: Teller): Promise<boolean> {
  const owner = await waitFor(() => ownerOf(access, vip), { what: `an owner of ${vip}` })
  const download = await lab.start(
    'client',
    'download',
    [process.execPath, CLIENT, `http://${vip}/download?seconds=${DOWNLOAD_S}`],
    { readyText: 'downloading' },
  )
  const diedAt = performance.now()
  await powerOff(lab, owner)
  teller.event(`${owner} answers for ${vip} and carries a download: its power is cut`)
  const heir = await waitFor(
    async () => {
      // With `l2` the planner still names the dead node for some seconds.
      const others = (await ownersOf(access, vip)).filter((name) => name !== owner)
      return others.length === 1 && others[0]!
    },
    { what: `another node to own ${vip}`, everyMs: 20 },
  )
  teller.event(
    `${heir} owns it, known here ${Math.round(performance.now() - diedAt)} ms later (spout vip history ${vip})`,
  )
  const { error, bytes, longestGapMs } = await waitFor(() => outcomeOf(download.logFile), {
    what: 'the download to end',
    timeoutMs: (DOWNLOAD_S + 30) * 1000,
    everyMs: 20,
  })
  teller.event(
    error === null
      ? `the download went on and is complete: ${bytes} bytes on one connection; longest gap ${longestGapMs} ms`
      : `the download broke: ${error}, after ${bytes} bytes`,
  )
  const backSinceMs = Date.now()
  await powerOn(lab, access, owner)
  await waitFor(() => isBack(access, owner, backSinceMs), { what: `${owner} to be in sync again`, everyMs: 20 })
  const now = await ownersOf(access, vip)
  teller.event(
    now.join() === heir
      ? `${owner} is back and takes nothing: ${heir} still owns ${vip}`
      : `${owner} is back; ${now.join(' and ') || 'nobody'} has ${vip} now, which ${heir} had`,
  )
  return error === null && now.join() === heir
}

/** Whether the node has reported since that moment that it is in sync; earlier reports do not count. */
async function isBack({ endpoint, admin }: SystemAccess, node: string, sinceMs: number): Promise<boolean> {
  const { items } = await callApi<{ items: readonly Node[] }>(endpoint, admin.token, 'GET', '/nodes')
  const status = items.find(({ name }) => name === node)?.status
  return status?.inSync === true && Date.parse(status.lastReportAt ?? '') > sinceMs
}

interface Node {
  readonly name: string
  readonly status: { readonly inSync: boolean; readonly lastReportAt: string | null }
}

const ownersOf = async ({ endpoint, admin }: SystemAccess, vip: string): Promise<readonly string[]> =>
  (await callApi<Vip>(endpoint, admin.token, 'GET', `/vips/${vip}`)).owners

const ownerOf = async (access: SystemAccess, vip: string): Promise<string | null> => {
  const owners = await ownersOf(access, vip)
  return owners.length === 1 ? owners[0]! : null
}

/** The client's last line; null while it is downloading. The log may contain earlier downloads. */
const outcomeOf = (logFile: string): Downloaded | null => {
  const last = readFileSync(logFile, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  return last.startsWith('{') ? (JSON.parse(last) as Downloaded) : null
}
